package scaffold

import (
	"strings"
	"testing"
)

func renderData() Data {
	return Data{
		Project:  Project{Name: "memcached-operator", Domain: "example.com", Repo: "github.com/example/memcached-operator", CLIName: "operon"},
		Resource: Resource{Group: "cache", Domain: "example.com", QualifiedGroup: "cache.example.com", Version: "v1alpha1", Kind: "Memcached", Plural: "memcacheds"},
	}
}

func TestOutputPath(t *testing.T) {
	t.Parallel()
	single, multi, core := renderData(), renderData(), renderData()
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
		{"internal/controller/GROUP/CONTROLLER_controller.go", single, "internal/controller/memcached_controller.go"},
		{"internal/controller/GROUP/CONTROLLER_controller.go", multi, "internal/controller/cache/my_cache_controller.go"},
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
			files := map[string][]byte{}
			for _, event := range []string{"init", "api", "controller", "api-image", "controller-image"} {
				if strings.HasSuffix(event, "-image") {
					data.Image = Image{Ref: "memcached:1.6.39-alpine", Port: 11211, EnvVar: "MEMCACHED_IMAGE", NamespaceVar: "MEMCACHED_NAMESPACE"}
				}
				r, err := Render(event, data)
				if err != nil {
					t.Fatal(err)
				}
				for name, content := range r.Files {
					if strings.ContainsAny(name, `\{}`) || strings.Contains(name, "//") || name != strings.TrimPrefix(name, "/") {
						t.Errorf("%s: file name %q", event, name)
					}
					if strings.Contains(string(content), "<no value>") {
						t.Errorf("%s: %s has no value", event, name)
					}
					files[name] = content
				}
				for name, blocks := range r.Inserts {
					changed, err := Insert(files[name], name, blocks)
					if err != nil {
						t.Errorf("%s: %v", event, err)
						continue
					}
					files[name] = changed
				}
			}
		}
	}
	if _, err := Render("nonsense", renderData()); err == nil || !strings.Contains(err.Error(), "rendering nonsense") {
		t.Errorf("error %v", err)
	}
}
