package proxy_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
)

// TestCreate checks the owner of objects that are created with POST, for all types of bodies.
func TestCreate(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	config, _ := e.register(e.owner, proxy.Settings{})
	c := newClient(t, config)
	path := "/api/v1/namespaces/" + e.namespace + "/configmaps"
	for contentType, body := range map[string]string{
		"application/json":                `{"metadata":{"name":"json"},"data":{"big":"12345678901234567890"}}`,
		"application/json; charset=utf-8": `{"metadata":{"name":"charset","annotations":{"a":null},"ownerReferences":null}}`,
		"application/yaml":                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata: {text: \"yes\"}\n",
	} {
		if code, response := e.send(config, http.MethodPost, path, contentType, body); code != http.StatusCreated {
			t.Errorf("%s: %v", contentType, response)
		}
	}
	for _, name := range []string{"json", "charset", "yaml"} {
		e.wantOwner(e.configMap(name))
	}
	typed := kubernetes.NewForConfigOrDie(config)
	binary := *config
	binary.ContentType = "application/vnd.kubernetes.protobuf"
	for _, create := range []*corev1.ConfigMap{
		{ObjectMeta: metav1.ObjectMeta{Name: "protobuf", Labels: map[string]string{"a": "b"}}, Data: map[string]string{"a": "b"}, BinaryData: map[string][]byte{"c": {0, 1}}},
		{ObjectMeta: metav1.ObjectMeta{GenerateName: "generated-"}},
	} {
		got, err := kubernetes.NewForConfigOrDie(&binary).CoreV1().ConfigMaps(e.namespace).Create(t.Context(), create, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		u := e.configMap(got.Name)
		e.wantOwner(u)
		if create.Data != nil && (u.GetLabels()["a"] != "b" || got.Data["a"] != "b" || len(got.BinaryData["c"]) != 2) {
			t.Errorf("%v has lost content", u)
		}
	}

	// A reference is not possible in other namespaces and for cluster-scoped objects.
	e.createNamespace(e.namespace + "-other")
	e.create(c, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: %s-other}}", e.namespace))
	e.wantAnnotations(e.get("v1", "ConfigMap", e.namespace+"-other", "other"))
	e.create(c, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s-created}}", e.namespace))
	e.wantAnnotations(e.get("v1", "Namespace", "", e.namespace+"-created"))
	if _, err := kubernetes.NewForConfigOrDie(&binary).CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.namespace + "-binary"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.wantAnnotations(e.get("v1", "Namespace", "", e.namespace+"-binary"))

	// Existing references and annotations are kept.
	owned := e.create(c, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: %s, annotations: {a: b}, ownerReferences: [
		{apiVersion: v1, kind: ConfigMap, name: json, uid: %s, controller: true}]}}`, e.namespace, e.configMap("json").GetUID()))
	e.wantOwners(owned, "ConfigMap/json", "App/one")
	if owned.GetAnnotations()["a"] != "b" || metav1.GetControllerOf(owned).Kind != "ConfigMap" {
		t.Errorf("%v", owned)
	}
	foreign := e.create(c, fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: %s-foreign, annotations: {operator-sdk/primary-resource: a/b, operator-sdk/primary-resource-type: C.d}}}`, e.namespace))
	if foreign.GetAnnotations()["operator-sdk/primary-resource"] != "a/b" {
		t.Errorf("%v", foreign)
	}

	// Objects that are not stored have no metadata, and nothing is stored in a dry run.
	if code, body := e.send(config, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "application/json",
		`{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`); code != http.StatusCreated || body["status"] == nil {
		t.Errorf("a review: %d %v", code, body)
	}
	if code, body := e.send(config, http.MethodPost, path+"?dryRun=All", "application/json", `{"metadata":{"name":"dry"}}`); code != http.StatusCreated {
		t.Errorf("a dry run: %v", body)
	} else {
		e.wantOwner(&unstructured.Unstructured{Object: body})
	}
	pod, err := typed.CoreV1().Pods(e.namespace).Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Subresources of objects are not objects.
	if err := typed.CoreV1().Pods(e.namespace).Bind(t.Context(), &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}

	// The owner of a cluster-scoped resource can be referenced everywhere.
	e.owner = e.createOwner("Platform", "", e.namespace)
	c = e.run()
	e.create(c, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: platform, namespace: %s}}", e.namespace))
	e.wantOwners(e.configMap("platform"), "Platform/"+e.namespace)
	e.create(c, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s-platform}}", e.namespace))
	e.wantOwners(e.get("v1", "Namespace", "", e.namespace+"-platform"), "Platform/"+e.namespace)
}

// TestInvalidBodies checks that the API server, or the proxy in its form, rejects bodies that are not objects.
func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	config, _ := e.register(e.owner, proxy.Settings{})
	path := "/api/v1/namespaces/" + e.namespace + "/configmaps"
	for name, c := range map[string]struct {
		contentType, body string
		code              int
	}{
		"no JSON":       {"application/json", "{", http.StatusBadRequest},
		"a list":        {"application/json", "[]", http.StatusBadRequest},
		"null":          {"application/json", "null", http.StatusUnprocessableEntity},
		"metadata":      {"application/json", `{"metadata":1}`, http.StatusBadRequest},
		"references":    {"application/json", `{"metadata":{"name":"a","ownerReferences":{}}}`, http.StatusBadRequest},
		"no YAML":       {"application/yaml", "a: [", http.StatusBadRequest},
		"YAML aliases":  {"application/yaml", "a: &a [x]\nb: [" + strings.Repeat("*a,", 200000) + "]", http.StatusBadRequest},
		"no protobuf":   {"application/vnd.kubernetes.protobuf", "k8s\x00\xff\xff", http.StatusBadRequest},
		"CBOR":          {"application/cbor", "\xd9\xd9\xf7\xa0", http.StatusUnsupportedMediaType},
		"an empty body": {"application/json", "", http.StatusBadRequest},
		"too large":     {"application/json", `{"data":{"a":"` + strings.Repeat("x", 9<<20) + `"}}`, http.StatusRequestEntityTooLarge},
		"large":         {"application/json", `{"data":{"a":"` + strings.Repeat("x", 4<<20) + `"}}`, http.StatusRequestEntityTooLarge},
	} {
		code, body := e.send(config, http.MethodPost, path, c.contentType, c.body)
		if code != c.code || body["kind"] != "Status" || body["status"] != "Failure" {
			t.Errorf("%s: %d, want %d with a Status: %v", name, code, c.code, body)
		}
	}
}

// TestApply checks the owner of objects that are created by server-side apply, and that it neither disappears nor conflicts when they are
// applied again.
func TestApply(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := e.run()
	apply := func(c client.Client, manager, text string) error {
		u := e.object(text)
		return c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(manager))
	}
	mustApply := func(c client.Client, manager, text string) {
		t.Helper()
		if err := apply(c, manager, text); err != nil {
			t.Fatal(err)
		}
	}
	configMap := func(name, data string) string {
		return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}, data: {%s}}", name, e.namespace, data)
	}
	mustApply(c, "role", configMap("applied", "a: b"))
	e.wantOwner(e.configMap("applied"))
	mustApply(c, "role", configMap("applied", "a: c"))
	e.wantOwner(e.configMap("applied"))
	mustApply(c, "other", configMap("applied", "d: e"))
	e.wantOwner(e.configMap("applied"))
	mustApply(e.client, "direct", configMap("applied", "f: g"))
	mustApply(c, "role", configMap("applied", "a: d"))
	u := e.configMap("applied")
	e.wantOwner(u)
	before := u.GetResourceVersion()
	if mustApply(c, "role", configMap("applied", "a: d")); e.configMap("applied").GetResourceVersion() != before {
		t.Error("applying without a change writes the object")
	}
	if err := apply(c, "other", configMap("applied", "a: conflict")); !apierrors.IsConflict(err) {
		t.Errorf("%v, want a conflict of the data", err)
	}

	// Created with POST, then applied.
	e.create(c, configMap("posted", "a: b"))
	mustApply(c, "role", configMap("posted", "c: d"))
	e.wantOwner(e.configMap("posted"))

	// A reference with an older version of the API, or to the controller, is applied as it is.
	e.create(e.client, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: controlled, namespace: %s, ownerReferences: [{apiVersion: example.com/v1, kind: App, name: one, uid: %s, controller: true}]}}", e.namespace, e.owner.UID))
	mustApply(c, "role", configMap("controlled", "c: d"))
	if r := metav1.GetControllerOf(e.configMap("controlled")); r == nil || r.APIVersion != "example.com/v1" {
		t.Errorf("reference %v", r)
	}

	// What exists without the owner is not taken over.
	e.create(e.client, configMap("foreign", "a: b"))
	mustApply(c, "role", configMap("foreign", "c: d"))
	mustApply(c, "role", configMap("foreign", "c: e"))
	e.wantOwners(e.configMap("foreign"))

	namespace := fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s-applied}}", e.namespace)
	mustApply(c, "role", namespace)
	mustApply(c, "role", namespace)
	e.wantAnnotations(e.get("v1", "Namespace", "", e.namespace+"-applied"))
	mustApply(e.client, "direct", fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", e.namespace))
	mustApply(c, "role", fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {a: b}}}", e.namespace))
	if a := e.get("v1", "Namespace", "", e.namespace).GetAnnotations(); len(a) > 0 {
		t.Errorf("annotations %v of an existing namespace", a)
	}

	// The owner is not its own owner.
	mustApply(c, "role", fmt.Sprintf("{apiVersion: example.com/v1alpha1, kind: App, metadata: {name: one, namespace: %s, labels: {a: b}}}", e.namespace))
	e.wantOwners(e.get("example.com/v1alpha1", "App", e.namespace, "one"))
}

// TestReplace checks that a replaced object keeps its owner, and that objects which are created with PUT have it.
func TestReplace(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := e.run()
	e.create(c, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: posted, namespace: %s}, data: {a: b}}", e.namespace))
	replace := func(text string) *unstructured.Unstructured {
		t.Helper()
		u := e.object(text)
		if err := c.Update(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		return u
	}
	e.wantOwner(replace(fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: posted, namespace: %s}, data: {a: c}}", e.namespace)))
	e.create(e.client, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: foreign, namespace: %s}, data: {a: b}}", e.namespace))
	e.wantOwners(replace(fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: foreign, namespace: %s}, data: {a: c}}", e.namespace)))
	other := replace(fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: posted, namespace: %s, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: foreign, uid: %s}]}}",
		e.namespace, e.configMap("foreign").GetUID()))
	e.wantOwners(other, "ConfigMap/foreign", "App/one")

	namespace := fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s-replaced}}", e.namespace)
	e.create(c, namespace)
	e.wantAnnotations(replace(namespace))

	// Leases are among the objects that PUT may create.
	config, _ := e.register(e.owner, proxy.Settings{})
	code, body := e.send(config, http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/"+e.namespace+"/leases/put", "application/json",
		`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"put"}}`)
	if code != http.StatusCreated {
		t.Fatalf("%d %v", code, body)
	}
	e.wantOwner(e.get("coordination.k8s.io/v1", "Lease", e.namespace, "put"))
}

// TestPatch checks that patches other than server-side apply keep the owner, unless they remove it.
func TestPatch(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	config, _ := e.register(e.owner, proxy.Settings{})
	c := newClient(t, config)
	e.create(e.client, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: foreign, namespace: %s}}", e.namespace))
	e.create(c, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: %s}}", e.namespace))
	path := "/api/v1/namespaces/" + e.namespace + "/configmaps/"
	reference := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":"foreign","uid":%q}`, e.configMap("foreign").GetUID())
	steps := []struct {
		contentType, body string
		owners            string
	}{
		{"application/merge-patch+json", `{"data":{"a":"b"}}`, "App/one"},
		{"application/merge-patch+json", `{"metadata":{"ownerReferences":[` + reference + `]}}`, "ConfigMap/foreign App/one"},
		{"application/strategic-merge-patch+json", `{"metadata":{"ownerReferences":[` + reference + `]}}`, "ConfigMap/foreign App/one"},
		{"application/json-patch+json", `[{"op":"remove","path":"/metadata/ownerReferences/0"}]`, "App/one"},
		{"application/merge-patch+json", `{"metadata":{"ownerReferences":null}}`, ""},
		{"application/merge-patch+json", `{"metadata":{"ownerReferences":[` + reference + `]}}`, "ConfigMap/foreign"},
	}
	for _, step := range steps {
		code, body := e.send(config, http.MethodPatch, path+"a", step.contentType, step.body)
		if code != http.StatusOK {
			t.Fatalf("%s: %v", step.body, body)
		}
		e.wantOwners(&unstructured.Unstructured{Object: body}, strings.Fields(step.owners)...)
		// None of them creates objects.
		if code, body := e.send(config, http.MethodPatch, path+"absent", step.contentType, step.body); code != http.StatusNotFound {
			t.Errorf("%s of an absent object: %v", step.contentType, body)
		}
	}
}

// TestWithoutInjection checks that the owner is not added if that is disabled.
func TestWithoutInjection(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *proxy.Config) { c.InjectOwnerReferences = false })
	u := e.create(e.run(), fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: %s}}", e.namespace))
	if e.wantOwners(u); len(u.GetAnnotations()) > 0 {
		t.Errorf("%v", u)
	}
}

// status returns a response without content.
func status(r *http.Request, code int) *http.Response {
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Header: http.Header{}, Body: http.NoBody, Request: r}
}

// TestDiscoveryFails checks that no object is created without its owner while the resources of the API server cannot be read.
func TestDiscoveryFails(t *testing.T) {
	t.Parallel()
	failures := []func(r *http.Request) (*http.Response, error){
		func(*http.Request) (*http.Response, error) { return nil, errors.New("connection dropped") },
		func(r *http.Request) (*http.Response, error) { return status(r, http.StatusTooManyRequests), nil },
		func(r *http.Request) (*http.Response, error) { return status(r, http.StatusOK), nil },
	}
	var failed atomic.Int32
	e := newEnv(t, through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if i := int(failed.Load()); r.URL.Path == "/api/v1" && i < len(failures) {
			failed.Add(1)
			return failures[i](r)
		}
		return next.RoundTrip(r)
	}))
	config, _ := e.register(e.owner, proxy.Settings{})
	path := "/api/v1/namespaces/" + e.namespace + "/configmaps"
	for range failures {
		if code, body := e.send(config, http.MethodPost, path, "application/json", `{"metadata":{"name":"a"}}`); code != http.StatusServiceUnavailable {
			t.Errorf("%d %v", code, body)
		}
	}
	if code, body := e.send(config, http.MethodPost, path, "application/json", `{"metadata":{"name":"a"}}`); code != http.StatusCreated {
		t.Fatalf("%d %v", code, body)
	}
	e.wantOwner(e.configMap("a"))
	err := kubernetes.NewForConfigOrDie(config).CoreV1().RESTClient().Post().AbsPath("/apis/absent.example.com/v1/absents").Body([]byte("{}")).Do(t.Context()).Error()
	if !apierrors.IsNotFound(err) {
		t.Errorf("a group that is not served: %v", err)
	}
}

// TestWholeObjects checks that existing objects keep their owner if the API server does not send only the metadata.
func TestWholeObjects(t *testing.T) {
	t.Parallel()
	e := newEnv(t, through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if accept := r.Header.Get("Accept"); strings.Contains(accept, "as=PartialObjectMetadata") {
			if !strings.HasSuffix(accept, ",application/json") {
				return status(r, http.StatusNotAcceptable), nil
			}
			r = r.Clone(r.Context())
			r.Header.Set("Accept", "application/json")
		}
		return next.RoundTrip(r)
	}))
	c := e.run()
	e.create(c, e.configMapText("a"))
	if err := c.Update(t.Context(), e.object(e.configMapText("a"))); err != nil {
		t.Fatal(err)
	}
	e.wantOwner(e.configMap("a"))
}
