package bundle_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// TestMissingRoles binds roles that the input lacks.
func TestMissingRoles(t *testing.T) {
	t.Parallel()
	const stream = `apiVersion: apps/v1
kind: Deployment
metadata: {name: op}
spec:
  selector: {matchLabels: {app: op}}
  template:
    metadata: {labels: {app: op}}
    spec:
      serviceAccountName: op
      containers: [{name: manager, image: "registry.example/op:1"}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: %s
metadata: {name: binding}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: "%s"}
subjects: [{kind: ServiceAccount, name: %s}]
`
	for _, c := range []struct {
		binding, kind, role, account string
		existing                     []string
		missing                      bool
	}{
		{"ClusterRoleBinding", "ClusterRole", "manager-role", "op", nil, true},
		{"RoleBinding", "Role", "manager-role", "op", []string{"other"}, true},
		{"RoleBinding", "ClusterRole", "manager-role", "op", nil, true},
		{"ClusterRoleBinding", "ClusterRole", "manager-role", "other", nil, false},
		{"ClusterRoleBinding", "ClusterRole", "manager-role", "op", []string{"manager-role"}, false},
		{"ClusterRoleBinding", "ClusterRole", "system:auth-delegator", "op", nil, false},
		{"ClusterRoleBinding", "ClusterRole", "cluster-admin", "op", nil, false},
		{"RoleBinding", "Role", "extension-apiserver-authentication-reader", "op", nil, false},
		{"RoleBinding", "Role", "cluster-admin", "op", nil, true},
	} {
		objects, problems := manifest.Decode("in", fmt.Appendf(nil, stream, c.binding, c.kind, c.role, c.account))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		made, err := bundle.Generate(bundle.Input{Package: "op", Version: "1.0.0", Layout: "unknown", Builder: "test", Objects: objects, ExistingRoles: c.existing})
		missing, ok := errors.AsType[diag.Findings](err)
		want := fmt.Sprintf("refers to the %s %s, which is not in the input", c.kind, c.role)
		if ok != c.missing || ok && !strings.Contains(missing.Error(), want) || !ok && err != nil {
			t.Errorf("Generate(%+v) error = %v", c, err)
		}
		if err == nil && c.account == "op" && len(made.Notes) == 0 {
			t.Errorf("%+v: a note is missing", c)
		}
	}
}
