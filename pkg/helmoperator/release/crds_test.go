package release

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// A crdEnv is an env with the group of a CRD in the crds directory of charts.
type crdEnv struct {
	*env
	group, crd string
}

func newCRDEnv(t *testing.T) crdEnv {
	t.Helper()
	e := newEnv(t)
	group := e.namespace + ".example.com"
	return crdEnv{e, group, "apiextensions.k8s.io/v1 CustomResourceDefinition gadgets." + group}
}

// definition returns the CRD with fields of spec in versions "v1" or "v1,v2"; the last one is stored.
func (e crdEnv) definition(versions string, fields ...string) string {
	var properties, list []string
	for _, field := range fields {
		properties = append(properties, field+": {type: string}")
	}
	names := strings.Split(versions, ",")
	for i, name := range names {
		list = append(list, fmt.Sprintf("{name: %s, served: true, storage: %t, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%s}}}}}}",
			name, i == len(names)-1, strings.Join(properties, ", ")))
	}
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.%[1]s, annotations: {chart: "yes"}}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions: [%[2]s]
`, e.group, strings.Join(list, ", "))
}

// version returns a chart with a version, the CRD, and a ConfigMap with the version.
func (e crdEnv) version(version, definition string) *chartv2.Chart {
	return e.chart("-- Chart.yaml --\napiVersion: v2\nname: demo\nversion: " + version + "\n-- crds/gadget.yaml --\n" + definition +
		"-- templates/c.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {v: {{ .Chart.Version }}}\n")
}

func (e crdEnv) with(policy CRDPolicy, chart *chartv2.Chart) *Release {
	e.Helper()
	return e.release(chart, nil, func(o *Options) { o.CRDs = policy })
}

// fields returns the fields of spec, sorted, in the first version.
func (e crdEnv) fields() string {
	e.Helper()
	versions, _, _ := unstructured.NestedSlice(e.must(e.crd).Object, "spec", "versions")
	properties, _, _ := unstructured.NestedMap(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties")
	return strings.Join(slices.Sorted(maps.Keys(properties)), " ")
}

func (e crdEnv) wantFields(want string) {
	e.Helper()
	if got := e.fields(); got != want {
		e.Errorf("the CRD has fields %q, want %q", got, want)
	}
}

func wantReport(t *testing.T, r *Release, want string) {
	t.Helper()
	var reports []string
	for _, report := range r.CRDReports() {
		reports = append(reports, report.String())
	}
	if got := strings.Join(reports, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("reports %q, want %q", got, want)
	}
}

// TestCRDsAreReplaced upgrades to charts with other CRDs. What others have added is kept.
func TestCRDsAreReplaced(t *testing.T) {
	t.Parallel()
	e := newCRDEnv(t)
	e.install(e.with(CRDsCreateReplace, e.version("1.0.0", e.definition("v1", "a", "old"))))
	e.wantFields("a old")
	e.update(e.crd, func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{"chart": "yes", "others": "annotation"})
		o.SetLabels(map[string]string{"others": "label"})
	})
	two := e.with(CRDsCreateReplace, e.version("1.1.0", strings.Replace(e.definition("v1,v2", "a", "b"), `chart: "yes"`, `chart: "changed"`, 1)))
	e.upgrade(two)
	wantReport(t, two, "")
	e.wantFields("a b")
	live := e.must(e.crd)
	annotations := live.GetAnnotations()
	if annotations["chart"] != "changed" || annotations["others"] != "annotation" || live.GetLabels()["others"] != "label" ||
		annotations[CRDOwnerAnnotation] != "Widget.example.com" || annotations[CRDVersionAnnotation] != "1.1.0" {
		t.Errorf("annotations %v, labels %v", annotations, live.GetLabels())
	}
	e.settled(two)

	// Objects of the new version keep the new field.
	e.eventually("v2 is served", func() bool {
		_, err := e.factory.discovery.ServerResourcesForGroupVersion(e.group + "/v2")
		return err == nil
	})
	gadget := e.apply("apiVersion: " + e.group + "/v2\nkind: Gadget\nmetadata: {name: g, namespace: " + e.namespace + "}\nspec: {b: x, old: y}\n")
	if spec, _, _ := unstructured.NestedMap(gadget.Object, "spec"); fmt.Sprint(spec) != "map[b:x]" {
		t.Errorf("spec %v", spec)
	}
	e.uninstall(nil)
	e.must(e.crd)
}

// TestCRDDrift repairs a CRD that others have changed or deleted. At rest, it is neither written nor read again.
func TestCRDDrift(t *testing.T) {
	t.Parallel()
	e := newCRDEnv(t)
	chart := e.version("1.0.0", e.definition("v1", "a", "b"))
	observer := &crdObserver{e: e, known: true}
	release := func() *Release {
		return e.release(chart, nil, func(o *Options) { o.CRDs, o.Observer = CRDsCreateReplace, observer })
	}
	e.install(release())
	e.settled(release())
	e.requests.take("")
	for range 3 {
		e.settled(release())
	}
	if requests := e.requests.take("customresourcedefinitions"); len(requests) > 0 {
		t.Errorf("requests at rest: %v", requests)
	}

	e.update(e.crd, func(o *unstructured.Unstructured) {
		versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
		unstructured.RemoveNestedField(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties", "b")
		_ = unstructured.SetNestedSlice(o.Object, versions, "spec", "versions")
	})
	e.wantFields("a")
	again := release()
	e.plan(again, None)
	repaired := e.repair(again)
	if len(repaired) != 1 || repaired[0].Created || repaired[0].String() != "CustomResourceDefinition/gadgets."+e.group {
		t.Errorf("repaired %v", repaired)
	}
	e.wantFields("a b")

	e.remove(e.crd)
	e.eventually("the CRD is gone", func() bool { return e.find(e.crd) == nil })
	again = release()
	e.plan(again, None)
	if repaired := e.repair(again); len(repaired) != 1 || !repaired[0].Created {
		t.Errorf("repaired %v", repaired)
	}
	e.wantFields("a b")
	e.settled(release())

	// Without an observer, it is read at most once per minute.
	observer.known = false
	e.requests.take("")
	e.settled(release())
	e.settled(release())
	if requests := e.requests.take("customresourcedefinitions"); len(requests) > 0 {
		t.Errorf("requests at rest: %v", requests)
	}
}

// TestStoredVersions refuses a CRD without a version in which objects are stored. Nothing is changed.
func TestStoredVersions(t *testing.T) {
	t.Parallel()
	e := newCRDEnv(t)
	first := e.version("1.0.0", e.definition("v1alpha1,v1", "a"))
	e.install(e.with(CRDsCreateReplace, first))
	e.eventually("versions are stored", func() bool { return e.field(e.crd, "status", "storedVersions") == "[v1]" })
	e.update(e.crd, func(o *unstructured.Unstructured) { // as after an upgrade from v1alpha1
		versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
		versions[0].(map[string]any)["storage"], versions[1].(map[string]any)["storage"] = true, false
		_ = unstructured.SetNestedSlice(o.Object, versions, "spec", "versions")
	})
	e.eventually("both versions are stored", func() bool { return strings.Contains(e.field(e.crd, "status", "storedVersions"), "v1alpha1") })
	before := e.must(e.crd).GetResourceVersion()
	next := e.with(CRDsCreateReplace, e.version("2.0.0", e.definition("v1", "a", "b")))
	e.plan(next, Upgrade)
	_, err := next.Upgrade(t.Context(), UpgradeOptions{})
	var refused *CRDError
	if !errors.As(err, &refused) || refused.Name != "gadgets."+e.group || strings.Join(refused.Lost, " ") != "v1alpha1" ||
		!strings.Contains(err.Error(), `its status.storedVersions contains ["v1alpha1"]`) {
		t.Errorf("error %v", err)
	}
	if after := e.must(e.crd).GetResourceVersion(); after != before || e.records() != "1 deployed" || e.field("v1 ConfigMap c", "data", "v") != "1.0.0" {
		t.Errorf("changed: records %s", e.records())
	}
}

// TestCRDPolicies checks create and skip, and the CRDs of disabled subcharts.
func TestCRDPolicies(t *testing.T) {
	t.Parallel()
	e := newCRDEnv(t)
	one, two := e.version("1.0.0", e.definition("v1", "a")), e.version("1.1.0", e.definition("v1", "a", "b"))
	e.install(e.with(CRDsSkip, one))
	e.mustNot(e.crd)
	e.upgrade(e.with(CRDsCreate, two))
	e.wantFields("a b")
	e.upgrade(e.with(CRDsCreate, one))
	e.wantFields("a b")
	e.settled(e.with(CRDsCreate, one))
	if _, err := e.factory.Release(Options{Owner: e.owner, CRDs: "Create"}); err == nil || !strings.Contains(err.Error(), `crds "Create": must be`) {
		t.Errorf("error %v", err)
	}
	sub := "-- Chart.yaml --\napiVersion: v2\nname: demo\nversion: 2.0.0\ndependencies: [{name: sub, version: 1.0.0, condition: sub.enabled}]\n" +
		"-- values.yaml --\nsub: {enabled: false}\n-- charts/sub/Chart.yaml --\napiVersion: v2\nname: sub\nversion: 1.0.0\n-- charts/sub/crds/g.yaml --\n" + e.definition("v1", "c")
	e.upgrade(e.with(CRDsCreateReplace, e.chart(sub)))
	e.wantFields("a b")
	enabled := e.release(e.chart(sub), values("sub", map[string]any{"enabled": true}), func(o *Options) { o.CRDs = CRDsCreateReplace })
	e.plan(enabled, None)
	e.repair(enabled)
	e.wantFields("c")
}

// TestCRDForbidden reports a CRD that the operator may not update: roles of older projects do not permit it.
func TestCRDForbidden(t *testing.T) {
	t.Parallel()
	e := newCRDEnv(t)
	e.apply(e.definition("v1", "theirs"))
	e.requests.mutex.Lock()
	e.requests.intercept = func(request *http.Request) *http.Response {
		if request.Method != http.MethodPatch || !strings.Contains(request.URL.Path, "customresourcedefinitions") {
			return nil
		}
		body := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"cannot patch","reason":"Forbidden","code":403}`
		return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
	}
	e.requests.mutex.Unlock()
	release := e.with(CRDsCreateReplace, e.version("1.0.0", e.definition("v1", "a")))
	e.install(release)
	wantReport(t, release, "cannot patch; run operon generate and deploy the operator's role")
}

// TestCRDRole updates a CRD, and watches it, with the permissions that generate derives.
func TestCRDRole(t *testing.T) {
	t.Parallel()
	e := newCRDEnv(t)
	e.apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: " + e.namespace + "}\nrules:\n" +
		"- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [create]}\n" +
		"- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], resourceNames: [gadgets." + e.group + "], verbs: [get, list, patch, watch]}\n")
	e.apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: " + e.namespace + "}\n" +
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + e.namespace + "}\nsubjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: " + e.namespace + "}]\n")
	config := rest.CopyConfig(e.factory.rest)
	config.Impersonate.UserName = e.namespace
	limited, err := NewFactory(Config{REST: config, Mapper: e.factory.mapper})
	if err != nil {
		t.Fatal(err)
	}
	for i, fields := range [][]string{{"a"}, {"a", "b"}} {
		r, err := limited.Release(Options{Owner: e.owner, Chart: e.version(fmt.Sprintf("1.%d.0", i), e.definition("v1", fields...)), CRDs: CRDsCreateReplace})
		if err != nil {
			t.Fatal(err)
		}
		var changed []Repaired
		e.eventually("the role is known", func() bool {
			changed, err = r.repairCRDs(t.Context())
			return err == nil
		})
		wantReport(t, r, "")
		if len(changed) != 1 {
			t.Errorf("changed %v", changed)
		}
		e.wantFields(strings.Join(fields, " "))
	}
	list, err := limited.clients.get(crdGroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	if err := list.Get().Resource("customresourcedefinitions").Param("fieldSelector", "metadata.name=gadgets."+e.group).Do(t.Context()).Error(); err != nil {
		t.Error(err)
	}
	if err := list.Get().Resource("customresourcedefinitions").Do(t.Context()).Error(); err == nil {
		t.Error("the role permits to list all CRDs")
	}
}
