package scaffold

import (
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
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
	case goModFile, goSumFile:
		return merge
	case project.DefaultDir + "/manager_webhook_patch.yaml", project.WebhookPolicyFile,
		project.CRDKustomization, project.CRDKustomizeConfig, project.SamplesKustomization:
		return shared
	}
	for _, dir := range []string{project.WebhookConfigDir + "/", project.CertManagerDir + "/", project.CRDPatchesDir + "/"} {
		// The first webhook of a project writes them for all.
		if strings.HasPrefix(name, dir) {
			return shared
		}
	}
	if name == "grafana/custom-metrics/config.yaml" {
		return shared
	}
	if strings.HasPrefix(name, "grafana/") || strings.HasPrefix(name, ".devcontainer/") || strings.HasPrefix(name, ".github/") {
		return keep
	}
	// All versions of a kind share its roles, and other tools write them differently.
	if project.IsKindRole(name) {
		return keep
	}
	switch path.Base(name) {
	case "groupversion_info.go", "suite_test.go", "webhook_suite_test.go":
		return shared
	}
	return refuse
}
