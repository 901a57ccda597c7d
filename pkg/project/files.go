package project

import (
	"path"
	"strings"
)

// A FileRule describes what commands do with files of the scaffold.
type FileRule struct {
	// pattern is a path, a pattern of path.Match, or one that ends in /** and matches all files in a directory. A pattern that begins
	// with **/ matches base names.
	pattern string
	// Existing is what init and create do if the file exists with another content.
	Existing Existing
	// Upgrade is what upgrade does with the file.
	Upgrade Upgraded
}

// Existing is the treatment of an existing file.
type Existing int

const (
	// Refuse reports the file as a conflict; --force of some commands overwrites it.
	Refuse Existing = iota
	// Keep keeps the file and reports it.
	Keep
	// Share keeps the file without a report: several APIs share it, and inserts extend it.
	Share
	// Combine merges the requirements of go.mod or go.sum.
	Combine
)

// Upgraded is the treatment of a file by upgrade.
type Upgraded int

const (
	// Never means that the file belongs to the user once it is written, or is generated.
	Never Upgraded = iota
	// Merged means that the changes of the scaffold and of the user are merged, and that a missing file is added.
	Merged
	// Whole means that the file is replaced unless the user has edited it, and not added to a project without it.
	Whole
)

// fileRules are the rules for all files that Operon writes, of all layouts. The first one that matches a file counts.
var fileRules = []FileRule{
	// What people write or edit for themselves.
	{"README.md", Keep, Merged},
	{"AGENTS.md", Keep, Merged},
	{"LICENSE", Keep, Never},
	{".gitignore", Keep, Merged},
	{".dockerignore", Keep, Merged},
	{".golangci.yml", Keep, Merged},
	{".custom-gcl.yml", Keep, Merged},
	{".ansible-lint", Keep, Whole},
	{".devcontainer/*", Keep, Merged},
	{".devcontainer/**", Keep, Never},
	{".github/workflows/lint.yml", Keep, Merged},
	{".github/workflows/test-e2e.yml", Keep, Merged},
	{".github/workflows/test.yml", Keep, Merged},
	{".github/actions/install-operon/action.yml", Keep, Merged},
	{".github/workflows/test-behavior.yml", Keep, Whole},
	{".github/workflows/release.yml", Keep, Whole},
	{".github/dependabot.yml", Keep, Whole},
	{AutoUpdateFile, Keep, Whole},
	{".github/**", Keep, Never},
	{".vscode/*", Refuse, Never},
	{".run/*", Refuse, Never},
	{"grafana/custom-metrics/config.yaml", Share, Never},
	{"grafana/controller-resources-metrics.json", Keep, Whole},
	{"grafana/controller-runtime-metrics.json", Keep, Whole},
	{"grafana/helm-operator-metrics.json", Keep, Whole},
	{"grafana/ansible-operator-metrics.json", Keep, Whole},
	{"grafana/**", Keep, Never},

	// The module, the program and its build.
	{"go.mod", Combine, Never},
	{"go.sum", Combine, Never},
	{Makefile, Refuse, Merged},
	{"Dockerfile", Refuse, Merged},
	{"requirements.yml", Refuse, Merged},
	{MainFile, Refuse, Merged},
	{"test/e2e/*", Refuse, Merged},
	{"test/utils/*", Refuse, Merged},
	{"molecule/default/*", Refuse, Merged},
	{"molecule/kind/*", Refuse, Merged},

	// Manifests that several kinds share.
	{WebhookManifests, Share, Never},
	{WebhookConfigDir + "/manifests.v1beta1.yaml", Share, Never},
	{WebhookConfigDir + "/*", Share, Merged},
	{WebhookConfigDir + "/**", Share, Never},
	{CertManagerDir + "/*", Share, Merged},
	{CertManagerDir + "/**", Share, Never},
	{CertificatesDir + "/*", Share, Merged},
	{CRDPatchesDir + "/**", Share, Never},
	{DefaultDir + "/manager_webhook_patch.yaml", Share, Merged},
	{WebhookPolicyFile, Share, Merged},
	{CRDKustomization, Share, Merged},
	{CRDKustomizeConfig, Share, Merged},
	{SamplesKustomization, Share, Merged},

	// Other manifests. All versions of a kind share its roles, and other tools write them differently.
	{RBACDir + "/*_admin_role.yaml", Keep, Never},
	{RBACDir + "/*_editor_role.yaml", Keep, Never},
	{RBACDir + "/*_viewer_role.yaml", Keep, Never},
	{RoleFile, Refuse, Never},
	{RBACDir + "/*", Refuse, Merged},
	{CRDDir + "/*", Refuse, Merged},
	{DefaultDir + "/*", Refuse, Merged},
	{ManagerDir + "/*", Refuse, Merged},
	{ManifestsDir + "/*", Refuse, Merged},
	{NetworkPolicyDir + "/*", Refuse, Merged},
	{PrometheusDir + "/alerts.yaml", Keep, Whole},
	{PrometheusDir + "/*", Refuse, Merged},
	{ScorecardDir + "/*", Refuse, Merged},
	{ScorecardDir + "/bases/*", Refuse, Merged},
	{ScorecardDir + "/patches/*", Refuse, Merged},
	{ConfigDir + "/testing/*", Refuse, Merged},
	{ConfigDir + "/testing/pull_policy/*", Refuse, Merged},

	// The user's code and content, and generated files.
	{"**/groupversion_info.go", Share, Never},
	{"internal/webhookcert/*", Share, Never},
	{"**/suite_test.go", Share, Never},
	{"**/webhook_suite_test.go", Share, Never},
	{FileName, Refuse, Never},
	{HeaderFile, Refuse, Never},
	{"watches.yaml", Refuse, Never},
	{APIDir + "/**", Refuse, Never},
	{"internal/**", Refuse, Never},
	{ChartsDir + "/**", Refuse, Never},
	{RolesDir + "/*/meta/argument_specs.yml", Share, Never}, // comments must not replace the arguments of an existing role
	{RolesDir + "/**", Refuse, Never},
	{PlaybooksDir + "/**", Refuse, Never},
	{MoleculeTestsDir + "/**", Refuse, Never},
	{CRDBasesDir + "/**", Refuse, Never},
	{SamplesDir + "/**", Refuse, Never},
	{ManifestsDir + "/bases/**", Refuse, Never},
	{BundleDir + "/**", Refuse, Never},
	{CatalogDir + "/**", Refuse, Never},
	{"bundle.Dockerfile", Refuse, Never},
	{"catalog.Dockerfile", Refuse, Never},
}

// FileRuleOf returns the rule for a file. Files without one are not part of the scaffold: they are refused, and never upgraded.
func FileRuleOf(name string) (FileRule, bool) {
	for _, rule := range fileRules {
		if rule.matches(name) {
			return rule, true
		}
	}
	return FileRule{}, false
}

func (r FileRule) matches(name string) bool {
	if dir, ok := strings.CutSuffix(r.pattern, "**"); ok {
		return strings.HasPrefix(name, dir)
	}
	if base, ok := strings.CutPrefix(r.pattern, "**/"); ok {
		return path.Base(name) == base
	}
	ok, _ := path.Match(r.pattern, name)
	return ok
}
