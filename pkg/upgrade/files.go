package upgrade

import (
	"path"
	"strings"
)

// Scaffolded tells whether a file is the scaffold's to keep current. All others are a person's from the moment
// they are written, or are generated from what is.
func Scaffolded(name string) bool {
	switch name {
	case "PROJECT", "go.mod", "go.sum", "hack/boilerplate.go.txt", "LICENSE", "config/rbac/role.yaml",
		"config/webhook/manifests.yaml", "config/webhook/manifests.v1beta1.yaml", "bundle.Dockerfile", "cover.out":
		return false
	case "config/samples/kustomization.yaml":
		return true
	}
	for _, folder := range []string{
		"api/", "apis/", "controllers/", "internal/", "pkg/", "bundle/", "catalog/", "bin/", "dist/", "vendor/", ".git/", ".operon/",
		"config/crd/bases/", "config/crd/patches/", "config/samples/", "config/manifests/bases/",
	} {
		if strings.HasPrefix(name, folder) {
			return false
		}
	}
	if path.Dir(name) == "config/rbac" {
		for _, role := range []string{"_admin_role.yaml", "_editor_role.yaml", "_viewer_role.yaml"} {
			if strings.HasSuffix(name, role) {
				return false
			}
		}
	}
	return true
}

// document tells that a file is prose, in which merging lines makes no sense: it is replaced or left alone.
func document(name string) bool { return path.Ext(name) == ".md" }
