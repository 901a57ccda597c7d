package scaffold

import (
	"path"
	"strings"
)

// policy says what a command does with a file that is there already.
type policy int

const (
	// refuse counts the file as a conflict; --force overwrites it where a command has that flag.
	refuse policy = iota
	// keep leaves the file as it is and says so.
	keep
	// shared leaves the file as it is without a word: many APIs share it and inserts reach it.
	shared
	// merge lays the requirements of go.mod or the sums of go.sum together.
	merge
)

// policyFor is the one table of conditions on whole files.
func policyFor(name string) policy {
	switch name {
	case "README.md", "AGENTS.md", "LICENSE", ".gitignore", ".dockerignore", ".golangci.yml", ".custom-gcl.yml":
		return keep
	case "go.mod", "go.sum":
		return merge
	case "config/default/manager_webhook_patch.yaml", "config/network-policy/allow-webhook-traffic.yaml",
		"config/crd/kustomization.yaml", "config/crd/kustomizeconfig.yaml", "config/samples/kustomization.yaml":
		return shared
	}
	for _, folder := range []string{"config/webhook/", "config/certmanager/", "config/crd/patches/"} {
		// The first webhook of a project writes them for all.
		if strings.HasPrefix(name, folder) {
			return shared
		}
	}
	if strings.HasPrefix(name, ".devcontainer/") || strings.HasPrefix(name, ".github/") {
		return keep
	}
	// All versions of a kind share its roles, and other tools word them otherwise.
	for _, role := range []string{"_admin_role.yaml", "_editor_role.yaml", "_viewer_role.yaml"} {
		if strings.HasPrefix(name, "config/rbac/") && strings.HasSuffix(name, role) {
			return keep
		}
	}
	switch path.Base(name) {
	case "groupversion_info.go", "suite_test.go", "webhook_suite_test.go":
		return shared
	}
	return refuse
}
