package migrate

import (
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/project"
)

// ofPlugin reports whether an optional plugin writes a file, which an upgrade updates only as a whole: unless it was edited, and never
// if the project lacks it.
func ofPlugin(name string) bool {
	switch name {
	case project.AutoUpdateFile, "grafana/controller-resources-metrics.json", "grafana/controller-runtime-metrics.json":
		return true
	}
	return false
}

// Scaffolded reports whether upgrades update a file. Other files belong to the user once they are written, or are generated.
func Scaffolded(name string) bool {
	if ofPlugin(name) {
		return true
	}
	switch name {
	case ".custom-gcl.yml", ".dockerignore", ".github/workflows/lint.yml", ".github/workflows/test-e2e.yml", ".github/workflows/test.yml",
		".gitignore", ".golangci.yml", "AGENTS.md", "Dockerfile", "Makefile", "README.md", requirementsFile,
		project.MainFile, project.SamplesKustomization:
		return true
	case project.RoleFile, project.WebhookManifests, project.WebhookConfigDir + "/manifests.v1beta1.yaml":
		return false
	}
	if project.IsKindRole(name) {
		return false
	}
	return slices.Contains([]string{
		".devcontainer", project.CertManagerDir, project.CRDDir, project.DefaultDir, project.ManagerDir, project.ManifestsDir,
		project.NetworkPolicyDir, project.PrometheusDir, project.RBACDir, project.ScorecardDir, project.ScorecardDir + "/bases",
		project.ScorecardDir + "/patches", project.WebhookConfigDir, "test/e2e", "test/utils",
		testingDir, testingDir + "/pull_policy", moleculeDir + "/default", moleculeDir + "/kind",
	}, path.Dir(name))
}

// Directories of Ansible projects: an overlay of the manifests for tests, and the scenarios of Molecule.
const (
	testingDir           = project.ConfigDir + "/testing"
	testingKustomization = testingDir + "/" + project.KustomizationFile
	moleculeDir          = "molecule"
	// requirementsFile lists the collections that roles and playbooks use.
	requirementsFile = "requirements.yml"
)
