package release

import (
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const roleChart = `
-- templates/role.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: {{ .Release.Namespace }}}
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c, finalizers: [{{ .Values.finalizer | default "" }}]}
-- templates/hook.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: hook, annotations: {helm.sh/hook: pre-delete}}
`

// TestUninstallInTerminatingNamespace does not run hooks, whose objects cannot be created.
func TestUninstallInTerminatingNamespace(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.install(e.release(e.chart(roleChart), nil))
	e.remove("v1 Namespace " + e.namespace)
	e.uninstall(nil)
	e.mustNot("rbac.authorization.k8s.io/v1 ClusterRole " + e.namespace)
	e.mustNot("v1 ConfigMap c")
}

// TestUninstallWithoutRecord deletes nothing, as after an uninstallation. What a deleted namespace leaves is the caller's.
func TestUninstallWithoutRecord(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(roleChart)
	e.install(e.release(chart, nil))
	for _, secret := range e.secrets() {
		if err := e.factory.core.Secrets(e.namespace).Delete(t.Context(), secret.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if removal := e.uninstall(chart); !removal.Done || len(removal.Remaining) > 0 {
		t.Errorf("removal %+v", removal)
	}
	e.must("v1 ConfigMap c")
}

// TestUninstallWaits keeps the record until the objects are gone.
func TestUninstallWaits(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(roleChart)
	e.install(e.release(chart, values("finalizer", "example.com/wait")))
	release := e.release(nil, nil)
	for range 2 {
		removal, err := release.Uninstall(t.Context(), UninstallOptions{Wait: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(removal.Remaining) != 1 || removal.Remaining[0].Name != "c" || removal.Done {
			t.Fatalf("removal %+v", removal)
		}
		if records := e.records(); records != "1 uninstalled" {
			t.Errorf("records %s", records)
		}
	}
	e.update("v1 ConfigMap c", func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })
	removal, err := release.Uninstall(t.Context(), UninstallOptions{Wait: true})
	if err != nil || len(removal.Remaining) > 0 || e.records() != "" {
		t.Errorf("%+v %v, records %s", removal, err, e.records())
	}
}

// forbid refuses requests that contain a text.
func (e *env) forbid(contains string) {
	e.requests.mutex.Lock()
	defer e.requests.mutex.Unlock()
	e.requests.intercept = func(request *http.Request) *http.Response {
		if !strings.Contains(request.Method+" "+request.URL.RequestURI(), contains) {
			return nil
		}
		body := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"configmaps \"c\" is forbidden: refused by the test","reason":"Forbidden","code":403}`
		return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(body))}
	}
}

// TestUninstallNamesWhatBlocks keeps the release until its objects can be deleted.
func TestUninstallNamesWhatBlocks(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "DELETE"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.install(e.release(e.chart(roleChart), nil))
			e.forbid(method + " /api/v1/namespaces/" + e.namespace + "/configmaps/c")
			_, err := e.release(nil, nil).Uninstall(t.Context(), UninstallOptions{})
			if err == nil || !strings.Contains(err.Error(), `configmaps "c" is forbidden`) {
				t.Errorf("error %v", err)
			}
			if e.records() == "" {
				t.Error("the record is gone")
			}
			e.connect()
			e.uninstall(nil)
			e.mustNot("v1 ConfigMap c")
		})
	}
}

// observed is an Observer of what the API server returns, as of its creation.
type observed map[string]*metav1.ObjectMeta

func (o observed) observe(e *env, reference, kind string) {
	live := e.must(reference)
	o[kind+"/"+live.GetName()] = &metav1.ObjectMeta{
		UID: live.GetUID(), Generation: live.GetGeneration(), ResourceVersion: live.GetResourceVersion(), Labels: live.GetLabels(),
		Annotations: live.GetAnnotations(), OwnerReferences: live.GetOwnerReferences(), DeletionTimestamp: live.GetDeletionTimestamp(),
	}
}

// TestObserver repairs without requests for objects that have not changed.
func TestObserver(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(basicChart)
	cache := observed{}
	release := e.release(chart, nil, func(o *Options) { o.Observer = cache })
	references := map[string]string{"apps/v1 Deployment web": "Deployment", "v1 Service web": "Service", "v1 Secret plain": "Secret"}
	e.install(release)
	e.settled(release)
	for reference, kind := range references {
		cache.observe(e, reference, kind)
	}
	e.requests.take("")
	e.settled(release)
	want := "GET /api/v1/namespaces/" + e.namespace + "/secrets?labelSelector=owner%3Dhelm%2Cname%3Dweb"
	if requests := e.requests.take(""); len(requests) != 1 || requests[0] != want {
		t.Errorf("requests %v", requests)
	}
	// The status and its resource version do not matter, the spec does.
	r, object := e.reference("apps/v1 Deployment web")
	info, err := r.info(object)
	if err != nil {
		t.Fatal(err)
	}
	status := []byte(`{"status":{"observedGeneration":1,"replicas":1}}`)
	if err := request(restClient(info).Patch(types.MergePatchType), info, true).SubResource("status").Body(status).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	cache.observe(e, "apps/v1 Deployment web", "Deployment")
	e.requests.take("")
	e.settled(release)
	if requests := e.requests.take("/deployments/"); len(requests) > 0 {
		t.Errorf("requests %v", requests)
	}
	e.update("apps/v1 Deployment web", func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, int64(9), "spec", "replicas")
	})
	cache.observe(e, "apps/v1 Deployment web", "Deployment")
	if repaired := e.repair(release); len(repaired) != 1 {
		t.Errorf("repaired %v", repaired)
	}
	e.remove("v1 Service web")
	cache["Service/web"] = nil
	if repaired := e.repair(release); len(repaired) != 1 || !repaired[0].Created {
		t.Errorf("repaired %v", repaired)
	}
}

func (o observed) Observe(gvk schema.GroupVersionKind, key types.NamespacedName) (*metav1.ObjectMeta, bool) {
	metadata, known := o[gvk.Kind+"/"+key.Name]
	return metadata, known
}

// TestBrokenDiscovery checks that the API service of all tests is broken: the capabilities of the other groups are complete.
func TestBrokenDiscovery(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	if _, _, err := e.factory.discovery.ServerGroupsAndResources(); err == nil || !strings.Contains(err.Error(), "broken.example.com/v1") {
		t.Errorf("error %v", err)
	}
	found, err := e.factory.capabilities.get(e.factory.discovery)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v1", "apps/v1/Deployment", "example.com/v1/Widget"} {
		if !found.APIVersions.Has(version) {
			t.Errorf("%s is missing", version)
		}
	}
}
