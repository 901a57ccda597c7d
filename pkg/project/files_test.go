package project

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFileRuleOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]FileRule{
		"README.md":                  {Existing: Keep, Upgrade: Merged},
		".ansible-lint":              {Existing: Keep, Upgrade: Whole},
		".github/workflows/test.yml": {Existing: Keep, Upgrade: Merged},
		".github/actions/install-operon/action.yml":   {Existing: Keep, Upgrade: Merged},
		".github/workflows/release.yml":               {Existing: Keep, Upgrade: Whole},
		".github/dependabot.yml":                      {Existing: Keep, Upgrade: Whole},
		"config/rbac/memcached_admin_role.yaml":       {Existing: Keep},
		"config/rbac/role.yaml":                       {},
		"config/rbac/role_binding.yaml":               {Upgrade: Merged},
		"go.mod":                                      {Existing: Combine},
		"config/crd/kustomization.yaml":               {Existing: Share, Upgrade: Merged},
		"config/webhook/manifests.yaml":               {Existing: Share},
		"internal/controller/cache/suite_test.go":     {Existing: Share},
		"internal/controller/memcached_controller.go": {},
		"api/v1/memcached_types.go":                   {},
		"api/v1/groupversion_info.go":                 {Existing: Share},
		"Makefile":                                    {Upgrade: Merged},
		"config/default/manager_metrics_patch.yaml":   {Upgrade: Merged},
		"molecule/default/tasks/site_test.yml":        {},
		"notes.txt":                                   {},
	} {
		got, ok := FileRuleOf(name)
		if got.pattern = ""; got != want || ok != (name != "notes.txt") {
			t.Errorf("%s: %v, %t, want %v", name, got, ok, want)
		}
	}
}

// TestFileRules checks that the table has a rule for each file of the golden projects, which are of all layouts, and that each rule
// applies to some file.
func TestFileRules(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	projects, err := filepath.Glob("../../testdata/*-operator")
	if err != nil || len(projects) < 6 {
		t.Fatal(projects, err)
	}
	for _, dir := range projects {
		err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			rel, err := filepath.Rel(dir, name)
			rule, ok := FileRuleOf(filepath.ToSlash(rel))
			if !ok {
				t.Errorf("%s: %s has no rule", filepath.Base(dir), rel)
			}
			used[rule.pattern] = true
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	templates := os.DirFS("../../templates")
	err = fs.WalkDir(templates, ".", func(name string, entry fs.DirEntry, err error) error {
		if _, rest, ok := strings.Cut(name, "/"); ok && err == nil && !entry.IsDir() {
			_, rest, _ = strings.Cut(rest, "/")
			rule, _ := FileRuleOf(strings.TrimSuffix(strings.TrimSuffix(rest, ".tmpl"), ".insert"))
			used[rule.pattern] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// Files of the user, of older scaffolds, and in subdirectories that only users have.
	others := map[string]bool{
		"LICENSE": true, ".devcontainer/**": true, ".github/**": true, "grafana/**": true, "catalog.Dockerfile": true, CRDDir + "/*": true, CatalogDir + "/**": true,
		WebhookConfigDir + "/manifests.v1beta1.yaml": true, WebhookConfigDir + "/**": true, CertManagerDir + "/**": true,
	}
	for _, rule := range fileRules {
		if !used[rule.pattern] && !others[rule.pattern] {
			t.Errorf("the rule for %s applies to no file", rule.pattern)
		}
	}
}
