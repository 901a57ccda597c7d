package scaffold

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/layout"
)

func renderData() Data {
	return Data{
		Project:  Project{Name: "memcached-operator", Domain: "example.com", Repo: "github.com/example/memcached-operator", CLIName: "operon"},
		Resource: Resource{Group: "cache", Domain: "example.com", QualifiedGroup: "cache.example.com", Version: "v1alpha1", Kind: "Memcached", Plural: "memcacheds"},
	}
}

// TestLayoutsShareNoPaths checks that the templates of a layout do not replace those that all layouts share.
func TestLayoutsShareNoPaths(t *testing.T) {
	t.Parallel()
	for _, p := range []Project{{}, {Layout: layout.Helm()}, {Layout: layout.Ansible()}} {
		for _, event := range []string{"init", "api", sharedEvent} {
			seen := map[string]string{}
			err := walkTemplates(event, Data{Project: p}, func(file, name string) error {
				if other := seen[name]; other != "" {
					t.Errorf("%s and %s have the same output", other, file)
				}
				seen[name] = file
				return nil
			})
			if err != nil || len(seen) == 0 {
				t.Errorf("%s: %d templates, error %v", event, len(seen), err)
			}
		}
	}
}

func TestOutputPath(t *testing.T) {
	t.Parallel()
	single, multi, core := renderData(), renderData(), renderData()
	old, oldMulti := renderData(), renderData()
	v3 := layout.Of([]string{layout.KeyGoV3})
	old.Project.Layout, oldMulti.Project.Layout, oldMulti.Project.MultiGroup = v3, v3, true
	oldMulti.Resource.Package = "github.com/example/memcached-operator/apis/cache/v1alpha1"
	moved := renderData()
	moved.Project.Paths = Paths{Main: "cmd/manager/main.go", Controllers: "pkg/controllers"}
	multi.Project.MultiGroup = true
	multi.Resource.ControllerName = "my-cache"
	core.Resource.Group = ""
	for _, c := range []struct {
		template string
		data     Data
		want     string
	}{
		{"api/GROUP/VERSION/KIND_types.go", single, "api/v1alpha1/memcached_types.go"},
		{"api/GROUP/VERSION/KIND_types.go", multi, "api/cache/v1alpha1/memcached_types.go"},
		{"config/rbac/STEM_admin_role.yaml", single, "config/rbac/memcached_admin_role.yaml"},
		{"config/rbac/STEM_admin_role.yaml", multi, "config/rbac/cache_memcached_admin_role.yaml"},
		{"config/samples/GROUP_VERSION_KIND.yaml", single, "config/samples/cache_v1alpha1_memcached.yaml"},
		{"config/samples/GROUP_VERSION_KIND.yaml", core, "config/samples/v1alpha1_memcached.yaml"},
		{"internal/controller/GROUP/CONTROLLER_controller.go", single, "internal/controller/memcached_controller.go"},
		{"internal/controller/GROUP/CONTROLLER_controller.go", multi, "internal/controller/cache/my_cache_controller.go"},
		{"api/GROUP/VERSION/KIND_types.go", old, "api/v1alpha1/memcached_types.go"},
		{"api/GROUP/VERSION/KIND_types.go", oldMulti, "apis/cache/v1alpha1/memcached_types.go"},
		{"internal/controller/GROUP/suite_test.go", old, "controllers/suite_test.go"},
		{"internal/controller/GROUP/suite_test.go", oldMulti, "controllers/cache/suite_test.go"},
		{"cmd/main.go", old, "main.go"},
		{"cmd/main.go", moved, "cmd/manager/main.go"},
		{"internal/controller/GROUP/suite_test.go", moved, "pkg/controllers/suite_test.go"},
		{"config/rbac/kustomization.yaml", oldMulti, "config/rbac/kustomization.yaml"},
		{"bases/NAME.clusterserviceversion.yaml", single, "bases/memcached-operator.clusterserviceversion.yaml"},
	} {
		if got := outputPath(c.template, c.data); got != c.want {
			t.Errorf("%s: %s, want %s", c.template, got, c.want)
		}
	}
	if got := outputPath("a/GROUP/x", core); strings.Contains(got, "//") {
		t.Error(got)
	}
}

// Every event renders for every shape of project, and its inserts find their markers.
func TestRenderFitsTogether(t *testing.T) {
	t.Parallel()
	for _, multi := range []bool{false, true} {
		for _, namespaced := range []bool{false, true} {
			data := renderData()
			data.Project.MultiGroup, data.Project.Namespaced = multi, namespaced
			data.Resource.Package, data.Resource.ImportAlias = "github.com/example/memcached-operator/api/v1alpha1", "cachev1alpha1"
			data.Resource.ReconcilerName, data.Resource.Namespaced = "Memcached", namespaced
			data.Resource.ControllerName, data.Resource.RuntimeName, data.Resource.ControllerPackage = "memcached", "memcached", "controller"
			data.Resource.API, data.Resource.Controller = true, true
			if multi {
				data.Resource.RuntimeName, data.Resource.ControllerPackage = "cache-memcached", "cache"
			}
			data.Versions = Pinned()
			for _, image := range []Image{{}, {Ref: "memcached:1.6.39-alpine", Port: 11211, EnvVar: "MEMCACHED_IMAGE", NamespaceVar: "MEMCACHED_NAMESPACE"}} {
				data.Image = image
				tree := modTree(nil)
				if _, err := Init(tree, data); err != nil {
					t.Fatal(err)
				}
				if _, err := CreateAPI(tree, data, false); err != nil {
					t.Fatal(err)
				}
				before := tree.Edits()
				for name, content := range before {
					if strings.ContainsAny(name, `\{}`) || strings.Contains(name, "//") || strings.HasPrefix(name, "/") {
						t.Errorf("file name %q", name)
					}
					if strings.Contains(string(content), "<no value>") {
						t.Errorf("%s has no value", name)
					}
				}
				if _, err := CreateAPI(tree, data, true); err != nil {
					t.Fatal(err)
				}
				for name, content := range tree.Edits() {
					if string(content) != string(before[name]) {
						t.Errorf("the same again changes %s to\n%s", name, content)
					}
				}
			}
		}
	}
	if _, err := Render("nonsense", renderData()); err == nil || !strings.Contains(err.Error(), "rendering nonsense") {
		t.Errorf("error %v", err)
	}
}
