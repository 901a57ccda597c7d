package proxy_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
)

// requeues are the runs that a proxy has requested of owners in a namespace. The watches receive changes of other tests.
type requeues struct {
	namespace string

	mu     sync.Mutex
	seen   []string // names of owners
	last   time.Duration
	refuse bool
}

func (r *requeues) add(key types.NamespacedName, after time.Duration) bool {
	if key.Namespace != r.namespace {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen, r.last = append(r.seen, key.Name), after
	return !r.refuse
}

// setRefuse sets whether runs that are requested from now on are refused.
func (r *requeues) setRefuse(refuse bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse = refuse
}

// take returns the requested runs since the last call.
func (r *requeues) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	r.seen = nil
	slices.Sort(seen)
	return seen
}

// settings returns the settings of a watch with all dependents.
func (r *requeues) settings() proxy.Settings {
	return proxy.Settings{WatchDependents: true, WatchClusterScoped: true, Requeue: r.add}
}

// configMapText is a ConfigMap in the namespace of the test.
func (e *env) configMapText(name string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}}", name, e.namespace)
}

// merge patches an object.
func (e *env) merge(c client.Client, obj *unstructured.Unstructured, patch string) {
	e.Helper()
	if err := c.Patch(e.Context(), obj.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		e.Fatal(err)
	}
}

// wantRequeued waits until exactly the owners are requeued.
func (e *env) wantRequeued(r *requeues, owners ...string) {
	e.Helper()
	var seen []string
	e.eventually("requeued owners", func() error {
		if seen = append(seen, r.take()...); len(seen) < len(owners) {
			return fmt.Errorf("requeued %q, want %q", seen, owners)
		}
		return nil
	})
	slices.Sort(seen)
	if !slices.Equal(seen, owners) {
		e.Errorf("requeued %q, want %q", seen, owners)
	}
}

// barrier waits until the watches of ConfigMaps and Namespaces have received all changes so far. It requeues the owner "barrier".
type barrier struct {
	configMap, namespace *unstructured.Unstructured
	round                int
}

func (e *env) newBarrier(settings proxy.Settings) *barrier {
	e.Helper()
	config, release := e.register(e.createOwner("App", e.namespace, "barrier"), settings)
	defer release()
	c := newClient(e.T, config)
	return &barrier{
		configMap: e.create(c, e.configMapText("barrier")),
		namespace: e.create(c, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s-barrier}}", e.namespace)),
	}
}

// wait waits, and checks that owners were requeued meanwhile.
func (b *barrier) wait(e *env, r *requeues, owners ...string) {
	e.Helper()
	for _, obj := range []*unstructured.Unstructured{b.configMap, b.namespace} {
		b.round++
		_, release := e.register(proxy.Owner{GroupVersionKind: e.owner.GroupVersionKind, Namespace: e.namespace, Name: "barrier", UID: "1"}, r.settings())
		release()
		e.merge(e.client, obj, fmt.Sprintf(`{"metadata":{"labels":{"round":"%d"}}}`, b.round))
		var seen []string
		e.eventually("the barrier is received", func() error {
			if seen = append(seen, r.take()...); !slices.Contains(seen, "barrier") {
				return errors.New("it is not")
			}
			return nil
		})
		for _, owner := range seen {
			if owner == "barrier" {
				continue
			}
			i := slices.Index(owners, owner)
			if i < 0 {
				e.Errorf("%s is requeued", owner)
				continue
			}
			owners = slices.Delete(slices.Clone(owners), i, i+1)
		}
	}
	if len(owners) > 0 {
		e.Errorf("%q are not requeued", owners)
	}
}

// TestDependents checks which changes of objects requeue their owner.
func TestDependents(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := &requeues{namespace: e.namespace}
	barrier := e.newBarrier(r.settings())
	config, release := e.register(e.owner, r.settings())
	c := newClient(t, config)

	// Changes by its own run do not.
	a, b := e.create(c, e.configMapText("a")), e.create(c, e.configMapText("b"))
	e.merge(c, a, `{"data":{"a":"b"}}`)
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(e.object(e.configMapText("a"))), client.FieldOwner("role")); err != nil {
		t.Fatal(err)
	}
	namespace := e.create(c, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s-dependent}}", e.namespace))
	gone := e.create(c, e.configMapText("gone"))
	if err := c.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	b = e.create(c, e.configMapText("b"))
	barrier.wait(e, r)
	release()
	barrier.wait(e, r)

	// Changes by others do, once until the next run begins.
	e.merge(e.client, a, `{"data":{"a":"c"}}`)
	e.merge(e.client, a, `{"data":{"a":"d"}}`)
	barrier.wait(e, r, "one")
	rerun := func() (client.Client, func()) {
		config, release := e.register(e.owner, r.settings())
		return newClient(t, config), release
	}
	_, release = rerun()
	e.merge(e.client, namespace, `{"metadata":{"labels":{"a":"b"}}}`)
	barrier.wait(e, r) // not during a run
	release()
	e.wantRequeued(r, "one")
	_, release = rerun()
	release()
	// A run that was refused is requested again.
	r.setRefuse(true)
	e.merge(e.client, a, `{"data":{"a":"e"}}`)
	e.wantRequeued(r, "one")
	r.setRefuse(false)
	if err := e.client.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	barrier.wait(e, r, "one")

	// A change that the run has seen needs no further run.
	c, release = rerun()
	e.merge(e.client, b, `{"data":{"a":"c"}}`)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil {
		t.Fatal(err)
	}
	barrier.wait(e, r)
	release()
	barrier.wait(e, r)

	// A run of another owner changes it, or takes it away.
	other, releaseOther := e.register(e.createOwner("App", e.namespace, "two"), r.settings())
	e.merge(newClient(t, other), b, `{"data":{"a":"e"}}`)
	barrier.wait(e, r, "one")
	_, release = rerun()
	release()
	e.merge(newClient(t, other), b, `{"metadata":{"ownerReferences":null}}`)
	barrier.wait(e, r, "one")
	_, release = rerun()
	release()
	releaseOther()
	e.merge(e.client, b, `{"data":{"a":"f"}}`)
	e.create(e.client, e.configMapText("foreign"))
	barrier.wait(e, r)

	// Objects without a generation have no status.
	app := e.create(e.client, fmt.Sprintf("{apiVersion: example.com/v1alpha1, kind: App, metadata: {name: status, namespace: %s, ownerReferences: [{apiVersion: example.com/v1alpha1, kind: App, name: one, uid: %s}]}}", e.namespace, e.owner.UID))
	c, release = rerun()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(app), app); err != nil {
		t.Fatal(err)
	}
	release()
	if err := e.client.Status().Patch(t.Context(), app, client.RawPatch(types.MergePatchType, []byte(`{"status":{"a":"b"}}`))); err != nil {
		t.Fatal(err)
	}
	e.wantRequeued(r, "one")
	if r.last != 2*time.Second {
		t.Errorf("requeued after %s, want a delay for changes of status", r.last)
	}
}

// TestDependentsAfterRestart checks that reading an object with the owner's mark starts its watch.
func TestDependentsAfterRestart(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := e.run()
	a := e.create(c, e.configMapText("a"))
	namespace := e.create(c, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s-dependent}}", e.namespace))
	e.proxy = e.startProxy(func(c *proxy.Config) { c.OwnerKinds = []schema.GroupKind{e.owner.GroupKind()} })
	r := &requeues{namespace: e.namespace}
	for _, obj := range []*unstructured.Unstructured{a, namespace} {
		config, release := e.register(e.owner, r.settings())
		if err := newClient(t, config).Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			t.Fatal(err)
		}
		release()
		e.merge(e.client, obj, `{"metadata":{"labels":{"a":"b"}}}`)
		e.wantRequeued(r, "one")
	}
	e.proxy.Remove(e.owner.GroupVersionKind, types.NamespacedName{Namespace: e.namespace, Name: "one"})
	if err := e.client.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	e.wantRequeued(r, "one")
}

// TestDryRun checks that a deletion that does not happen does not explain a later one, wherever the client requests the dry run.
func TestDryRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := &requeues{namespace: e.namespace}
	for name, remove := range map[string]func(config *rest.Config) error{
		"query": func(config *rest.Config) error {
			return newClient(t, config).Delete(t.Context(), e.configMap("query"), client.DryRunAll)
		},
		"body": func(config *rest.Config) error {
			return kubernetes.NewForConfigOrDie(config).CoreV1().RESTClient().Delete().AbsPath("/api/v1/namespaces/" + e.namespace + "/configmaps/body").
				Body([]byte(`{"dryRun":["All"]}`)).Do(t.Context()).Error()
		},
		"protobuf": func(config *rest.Config) error {
			config.ContentType = "application/vnd.kubernetes.protobuf"
			return kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(e.namespace).Delete(t.Context(), "protobuf", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		},
	} {
		config, release := e.register(e.owner, r.settings())
		e.create(newClient(t, config), e.configMapText(name))
		if err := remove(config); err != nil {
			t.Fatal(err)
		}
		release()
		if err := e.client.Delete(t.Context(), e.configMap(name)); err != nil {
			t.Fatal(err)
		}
		e.wantRequeued(r, "one")
	}
}

// TestDependentSettings checks that the settings of a watch exclude kinds.
func TestDependentSettings(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := &requeues{namespace: e.namespace}
	barrier := e.newBarrier(r.settings())
	e.createKind("Silent", "Namespaced")
	configMaps := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	for name, change := range map[string]func(*proxy.Settings){
		"blacklist": func(s *proxy.Settings) {
			s.Blacklist, s.WatchClusterScoped = []schema.GroupVersionKind{configMaps}, false
		},
		"cluster-scoped": func(s *proxy.Settings) { s.WatchClusterScoped = false },
		"none":           func(s *proxy.Settings) { s.WatchDependents = false },
	} {
		settings := r.settings()
		change(&settings)
		owner := e.createOwner("Silent", e.namespace, name)
		config, release := e.register(owner, settings)
		c := newClient(t, config)
		configMap := e.create(c, e.configMapText("of-"+name))
		namespace := e.create(c, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s-%s}}", e.namespace, name))
		release()
		e.merge(e.client, configMap, `{"metadata":{"labels":{"a":"b"}}}`)
		e.merge(e.client, namespace, `{"metadata":{"labels":{"a":"b"}}}`)
		if name == "cluster-scoped" {
			barrier.wait(e, r, name)
		} else {
			barrier.wait(e, r)
		}
	}
}

// TestDeletedBeforeList checks that deletions are noticed which the watch has not received because it began later.
func TestDeletedBeforeList(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	e := newEnv(t, through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if r.URL.Path == "/api/v1/configmaps" {
			select {
			case <-started:
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		}
		return next.RoundTrip(r)
	}))
	r := &requeues{namespace: e.namespace}
	create := func(owner proxy.Owner) (client.Client, *unstructured.Unstructured, func()) {
		config, release := e.register(owner, r.settings())
		c := newClient(t, config)
		return c, e.create(c, e.configMapText("of-"+owner.Name)), release
	}
	_, deleted, release := create(e.owner)
	release()
	own, deletedByRun, releaseTwo := create(e.createOwner("App", e.namespace, "two"))
	_, kept, releaseThree := create(e.createOwner("App", e.namespace, "three"))
	releaseThree()
	if err := e.client.Delete(t.Context(), deleted); err != nil {
		t.Fatal(err)
	}
	if err := own.Delete(t.Context(), deletedByRun); err != nil {
		t.Fatal(err)
	}
	releaseTwo()
	close(started)
	e.wantRequeued(r, "one")
	e.merge(e.client, kept, `{"data":{"a":"b"}}`)
	e.wantRequeued(r, "three")
}
