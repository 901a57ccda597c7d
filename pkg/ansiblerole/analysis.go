package ansiblerole

import (
	"io/fs"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/rbac"
)

// The API groups of objects that require more permissions than those on their resource.
const (
	groupCRD = "apiextensions.k8s.io"
)

// An analysis collects the permissions that roles and playbooks need.
type analysis struct {
	files       fs.FS
	permissions rbac.Permissions
	notes       diag.Findings
}

func newAnalysis(files fs.FS, _ []API) *analysis {
	return &analysis{files: files, permissions: rbac.Permissions{}}
}

// analyze adds the permissions for a kind.
func (a *analysis) analyze(api API) {
	grantRuntime(a.permissions, api)
}
