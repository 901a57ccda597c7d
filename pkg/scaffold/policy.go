package scaffold

import (
	"path"
	"strings"
)

// A policy is the treatment of an existing file.
type policy int

const (
	// refuse reports the file as a conflict; --force of some commands overwrites it.
	refuse policy = iota
	// keep keeps the file and reports it.
	keep
	// shared keeps the file without a report: several APIs share it, and inserts extend it.
	shared
	// merge merges go.mod or go.sum.
	merge
)

// policyFor returns the policy for a file.
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
	for _, dir := range []string{"config/webhook/", "config/certmanager/", "config/crd/patches/"} {
		// The first webhook of a project writes them for all.
		if strings.HasPrefix(name, dir) {
			return shared
		}
	}
	if strings.HasPrefix(name, ".devcontainer/") || strings.HasPrefix(name, ".github/") {
		return keep
	}
	// All versions of a kind share its roles, and other tools write them differently.
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
