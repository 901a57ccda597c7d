package migrate

import (
	"path"
	"slices"
	"strings"
)

// Scaffolded reports whether upgrades update a file. Other files belong to the user once they are written, are
// generated, or belong to optional plugins.
func Scaffolded(name string) bool {
	switch name {
	case ".custom-gcl.yml", ".dockerignore", ".github/workflows/lint.yml", ".github/workflows/test-e2e.yml", ".github/workflows/test.yml",
		".gitignore", ".golangci.yml", "AGENTS.md", "Dockerfile", "Makefile", "README.md", "cmd/main.go", "config/samples/kustomization.yaml":
		return true
	case "config/rbac/role.yaml", "config/webhook/manifests.yaml", "config/webhook/manifests.v1beta1.yaml":
		return false
	}
	if path.Dir(name) == "config/rbac" {
		for _, role := range []string{"_admin_role.yaml", "_editor_role.yaml", "_viewer_role.yaml"} {
			if strings.HasSuffix(name, role) {
				return false
			}
		}
	}
	return slices.Contains([]string{
		".devcontainer", "config/certmanager", "config/crd", "config/default", "config/manager", "config/manifests", "config/network-policy",
		"config/prometheus", "config/rbac", "config/scorecard", "config/scorecard/bases", "config/scorecard/patches", "config/webhook",
		"test/e2e", "test/utils",
	}, path.Dir(name))
}
