package dependson

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/yaml"
)

// resources is the discovery of one group version.
type resources struct {
	discovery.DiscoveryInterface
	names []string
}

func (r resources) ServerResourcesForGroupVersion(string) (*metav1.APIResourceList, error) {
	list := &metav1.APIResourceList{}
	for _, name := range r.names {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
	}
	return list, nil
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
		t.Fatal(err)
	}
	generation, found, _ := unstructured.NestedFloat64(obj.Object, "metadata", "generation")
	if found {
		obj.SetGeneration(int64(generation))
	}
	return obj
}

func testWatcher() *Watcher {
	mapper := meta.NewDefaultRESTMapper(nil)
	gv := schema.GroupVersion{Group: "example.com", Version: "v1"}
	mapper.Add(gv.WithKind("App"), meta.RESTScopeNamespace)
	mapper.Add(gv.WithKind("Config"), meta.RESTScopeNamespace)
	mapper.Add(gv.WithKind("Cluster"), meta.RESTScopeRoot)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	return &Watcher{mapper: mapper, discovery: resources{names: []string{"apps", "apps/status", "configs", "configmaps"}}}
}

// TestReadiness checks when objects of others are ready.
func TestReadiness(t *testing.T) {
	t.Parallel()
	w := testWatcher()
	const app = "{apiVersion: example.com/v1, kind: App, metadata: {name: a, generation: 2}, status: "
	for text, want := range map[string]string{
		app + "{conditions: [{type: Ready, status: 'True'}]}}":                                            "",
		app + "{conditions: [{type: Ready, status: 'False', message: secret}]}}":                          "is not ready",
		app + "{conditions: [{type: Ready, status: Unknown, reason: Paused}]}}":                           "is not ready: Paused",
		app + "{conditions: [{type: Ready, status: 'False', reason: " + strings.Repeat("x", 200) + "}]}}": "is not ready: " + strings.Repeat("x", 84) + "\n... (truncated)",
		app + "{conditions: []}}": "",
		app + "{}}":               "is not ready: it has no status yet",
		"{apiVersion: example.com/v1, kind: Config, metadata: {name: a, generation: 2}}":                     "",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}":                                             "",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z'}}":  "is being deleted",
		"{apiVersion: v1, kind: Pod, metadata: {name: a}, status: {phase: Failed}}":                          "is not ready: Failed",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {}, status: {readyReplicas: 0}}": "is not ready: InProgress",
	} {
		if got, err := w.problemOf(parse(t, text)); got != want || err != nil {
			t.Errorf("%s: got %q (%v), want %q", text, got, err, want)
		}
	}
	// Numbers are integers in objects of the API server.
	obj := parse(t, app+"{conditions: [{type: Ready, status: 'True'}]}}")
	for field, problem := range map[int64]string{1: "is not ready: its condition Ready is about an older generation", 2: ""} {
		if err := unstructured.SetNestedField(obj.Object, field, "status", "observedGeneration"); err != nil {
			t.Fatal(err)
		}
		if got, err := w.problemOf(obj); got != problem || err != nil {
			t.Errorf("generation %d: got %q (%v)", field, got, err)
		}
	}
}

// TestObjects checks which objects the dependencies of a resource are.
func TestObjects(t *testing.T) {
	t.Parallel()
	mapper := testWatcher().mapper
	namespaced, cluster := "metadata: {namespace: ns}, ", "metadata: {}, "
	for _, c := range []struct {
		d              Dependency
		resource, want string
	}{
		{Dependency{Name: "a"}, namespaced, "App ns/a"},
		{Dependency{Name: "a", Namespace: "other"}, namespaced, "App other/a"},
		{Dependency{Name: "a", Namespace: "other"}, cluster, "App other/a"},
		{Dependency{Name: "a"}, cluster, "the resource is cluster-scoped: the dependency App a needs a namespace"},
		{Dependency{Name: "a", GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Cluster"}}, namespaced, "Cluster a"},
		{Dependency{NameFrom: "spec.a"}, namespaced + "spec: {a: b}", "App ns/b"},
		{Dependency{NameFrom: "spec.a"}, namespaced + "spec: {a: [b, c]}", "App ns/b, App ns/c"},
		{Dependency{NameFrom: "spec.a.b"}, namespaced + "spec: {a: [{b: [c, '']}, {c: d}, {b: e}]}", "App ns/c, App ns/e"},
		{Dependency{NameFrom: "spec.a.b"}, namespaced + "spec: {a: []}", ""},
		{Dependency{NameFrom: "spec.a.b"}, namespaced + "spec: {a: {b: ''}}", "missing: spec.a.b, the name of a App, is not set"},
		{Dependency{NameFrom: "spec.a"}, namespaced, "missing: spec.a, the name of a App, is not set"},
		{Dependency{NameFrom: "spec.a"}, namespaced + "spec: {a: 1}", "spec.a must be the name of a App"},
		{Dependency{NameFrom: "spec.a"}, namespaced + "spec: {a: ../b}", "spec.a must be the name of a App"},
		{Dependency{NameFrom: "spec.a"}, namespaced + "spec: {a: {b: c}}", "spec.a must be the name of a App"},
		{Dependency{NameFrom: "spec.a.b"}, namespaced + "spec: {a: c}", "spec.a.b must be the name of a App"},
		{Dependency{NameFrom: "spec.a"}, namespaced + "spec: {a: [" + strings.Repeat("b,", 101) + "]}", "spec.a contains more than 100 names"},
	} {
		if c.d.Kind == "" {
			c.d.GroupVersionKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "App"}
		}
		objects, p := c.d.objects(parse(t, "{"+c.resource+"}"), mapper)
		var got []string
		for _, o := range objects {
			got = append(got, o.String())
		}
		if p.text != "" {
			got = append(got, map[bool]string{true: "missing: "}[p.missing]+p.text)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%+v of %s: got %q, want %q", c.d, c.resource, got, c.want)
		}
	}
	if err := Check([]Dependency{{Name: "a"}}); err == nil {
		t.Error("a dependency without a kind was accepted")
	}
}
