package dependents_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/dependents"
)

var started atomic.Pointer[controlplane.ControlPlane]

// plane is the control plane of all tests, started by the first one that needs it.
var plane = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	options := controlplane.DefaultOptions(os.Environ())
	options.NoDownload, options.KubebuilderAssets = true, ""
	options.Progress = func(message string) { fmt.Fprintln(os.Stderr, message) }
	assets, err := controlplane.Ensure(context.Background(), options)
	if err != nil {
		return nil, err
	}
	p, err := controlplane.Start(context.Background(), assets, controlplane.StartOptions{Environ: os.Environ()})
	if err == nil {
		started.Store(p)
	}
	return p, err
})

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard())
	code := m.Run()
	if p := started.Load(); p != nil {
		if err := p.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// env is a watcher and a client.
type env struct {
	*testing.T
	client  client.Client
	watcher *dependents.Watcher

	mu     sync.Mutex
	events []string
	log    []string
}

func newEnv(t *testing.T, options dependents.Options, wrap ...transport.WrapperFunc) *env {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it starts a control plane")
	}
	p, err := plane()
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(p.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	wrapped := rest.CopyConfig(config)
	for _, w := range wrap {
		wrapped.Wrap(w)
	}
	httpClient, err := rest.HTTPClientFor(wrapped)
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	e := &env{T: t}
	if e.client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	options.REST, options.HTTPClient = wrapped, httpClient
	if options.Mapper, err = apiutil.NewDynamicRESTMapper(config, httpClient); err != nil {
		t.Fatal(err)
	}
	options.Log = funcr.New(func(_, args string) { e.add(&e.log, args) }, funcr.Options{})
	if e.watcher, err = dependents.NewWatcher(options); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- e.watcher.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return e
}

func (e *env) add(list *[]string, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	*list = append(*list, text)
}

// handler returns a handler that records changes.
func (e *env) handler() dependents.Handler {
	return dependents.Handler{
		Added: func(obj *metav1.PartialObjectMetadata, initial bool) {
			e.add(&e.events, fmt.Sprintf("added %s %s %v", obj.Kind, obj.Name, initial))
		},
		Updated: func(before, after *metav1.PartialObjectMetadata) {
			e.add(&e.events, fmt.Sprintf("updated %s %v", after.Name, dependents.IsSpecChange(before, after)))
		},
		Deleted: func(obj *metav1.PartialObjectMetadata) { e.add(&e.events, "deleted "+obj.Name) },
	}
}

// want waits until exactly these changes were recorded.
func (e *env) want(events ...string) {
	e.Helper()
	want := strings.Join(events, "\n")
	e.eventually("changes", func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if got := strings.Join(e.events, "\n"); got != want {
			return fmt.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
		e.events = nil
		return nil
	})
}

func (e *env) eventually(what string, check func() error) {
	e.Helper()
	var err error
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	e.Fatalf("%s: %v", what, err)
}

func object(gvk schema.GroupVersionKind, name string, labels map[string]string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace("default")
	u.SetName(name)
	u.SetLabels(labels)
	return u
}

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

var configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// TestWatch checks which objects are kept, and which changes are handled.
func TestWatch(t *testing.T) {
	t.Parallel()
	keep := func(obj *metav1.PartialObjectMetadata) bool { return obj.Labels["test"] == "watch" }
	e := newEnv(t, dependents.Options{Keep: keep})
	labels, key := map[string]string{"test": "watch"}, types.NamespacedName{Namespace: "default", Name: "kept"}
	e.must(e.client.Create(t.Context(), object(configMaps, "kept", labels)))
	e.must(e.client.Create(t.Context(), object(configMaps, "dropped", nil)))
	if _, known := e.watcher.Get(configMaps, key); known || e.watcher.IsLive(configMaps, "default") {
		t.Error("want nothing known of a kind that is not watched")
	}
	e.watcher.Watch(configMaps, e.handler())
	e.want("added ConfigMap kept true")
	e.eventually("a live watch", func() error {
		if !e.watcher.IsLive(configMaps, "default") {
			return errors.New("it is not live")
		}
		return nil
	})
	if obj, known := e.watcher.Get(configMaps, key); obj == nil || !known || obj.ManagedFields != nil {
		t.Errorf("got %v %v", obj, known)
	}
	if obj, known := e.watcher.Get(configMaps, types.NamespacedName{Namespace: "default", Name: "dropped"}); obj != nil || !known {
		t.Errorf("got %v %v", obj, known)
	}
	e.must(e.client.Create(t.Context(), object(configMaps, "later", labels)))
	e.want("added ConfigMap later false")
	merge := func(name, text string) {
		t.Helper()
		e.must(e.client.Patch(t.Context(), object(configMaps, name, nil), client.RawPatch(types.MergePatchType, []byte(text))))
	}
	merge("dropped", `{"data":{"a":"b"}}`)
	merge("later", `{"data":{"a":"b"}}`)
	e.want("updated later true")
	// The last change of an object that is not to be kept any more is handled, and the first of one that is.
	merge("later", `{"metadata":{"labels":{"test":"other"}}}`)
	merge("later", `{"data":{"a":"c"}}`)
	merge("dropped", `{"metadata":{"labels":{"test":"watch"}}}`)
	e.want("updated later true", "added ConfigMap dropped false")
	e.watcher.Watch(configMaps, e.handler())
	e.eventually("initial objects of a second handler", func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.events) != 2 {
			return fmt.Errorf("%q", e.events)
		}
		e.events = nil
		return nil
	})
	e.must(e.client.Delete(t.Context(), object(configMaps, "kept", nil)))
	e.want("deleted kept", "deleted kept")
}

// TestLateKind checks that a kind which does not exist is reported once, and watched as soon as it does.
func TestLateKind(t *testing.T) {
	t.Parallel()
	e := newEnv(t, dependents.Options{Namespaces: []string{"default", "kube-system"}})
	late := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Late"}
	e.watcher.Watch(late, e.handler())
	e.eventually("a report", func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.log) == 0 {
			return errors.New("none")
		}
		return nil
	})
	open := true
	e.must(e.client.Create(t.Context(), &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "lates.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "lates", Kind: "Late"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}}}},
		},
	}))
	e.eventually("an object", func() error { return e.client.Create(t.Context(), object(late, "a", nil)) })
	e.eventually("the object is received", func() error {
		if obj, _ := e.watcher.Get(late, types.NamespacedName{Namespace: "default", Name: "a"}); obj == nil {
			return errors.New("it is not")
		}
		return nil
	})
	e.mu.Lock()
	e.events = nil
	if len(e.log) != 1 {
		t.Errorf("reports %q, want one", e.log)
	}
	e.mu.Unlock()
	status := client.RawPatch(types.MergePatchType, []byte(`{"status":{"a":"b"}}`))
	e.must(e.client.Status().Patch(t.Context(), object(late, "a", nil), status))
	e.want("updated a false")
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestReports checks that an error which lasts is reported once.
func TestReports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code int
		list bool // fails, too
	}{
		"no permission to watch": {http.StatusForbidden, false},
		"server error":           {http.StatusInternalServerError, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var failing atomic.Bool
			var failures atomic.Int32
			e := newEnv(t, dependents.Options{}, func(next http.RoundTripper) http.RoundTripper {
				return roundTripper(func(r *http.Request) (*http.Response, error) {
					if failing.Load() && r.URL.Path == "/api/v1/configmaps" && (c.list || r.URL.Query().Has("watch")) {
						failures.Add(1)
						return &http.Response{StatusCode: c.code, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
					}
					return next.RoundTrip(r)
				})
			})
			failing.Store(true)
			e.watcher.Watch(configMaps, e.handler())
			e.eventually("a report", func() error {
				e.mu.Lock()
				defer e.mu.Unlock()
				if len(e.log) == 0 {
					return errors.New("none")
				}
				return nil
			})
			// Each attempt sends two requests that fail.
			first := failures.Load()
			e.eventually("two further attempts", func() error {
				if failures.Load() < first+4 {
					return errors.New("none")
				}
				return nil
			})
			failing.Store(false)
			e.eventually("a live watch", func() error {
				if !e.watcher.IsLive(configMaps, "default") {
					return errors.New("it is not live")
				}
				return nil
			})
			e.mu.Lock()
			defer e.mu.Unlock()
			if len(e.log) != 1 {
				t.Errorf("reports %q, want one", e.log)
			}
		})
	}
}

// TestAnnotatedOwner checks the annotations of objects without an owner reference.
func TestAnnotatedOwner(t *testing.T) {
	t.Parallel()
	kind, key := schema.GroupKind{Group: "example.com", Kind: "App"}, types.NamespacedName{Namespace: "a", Name: "b"}
	for name, c := range map[string]struct {
		annotations map[string]string
		kind        schema.GroupKind
		key         types.NamespacedName
		ok          bool
	}{
		"own":            {dependents.OwnerAnnotations(kind, key), kind, key, true},
		"cluster-scoped": {map[string]string{dependents.OwnerAnnotation: "b", dependents.OwnerTypeAnnotation: "App.example.com"}, kind, types.NamespacedName{Name: "b"}, true},
		"no kind":        {map[string]string{dependents.OwnerAnnotation: "a/b"}, schema.GroupKind{}, key, false},
		"no name":        {map[string]string{dependents.OwnerTypeAnnotation: "App.example.com"}, kind, types.NamespacedName{}, false},
		"none":           {nil, schema.GroupKind{}, types.NamespacedName{}, false},
	} {
		gotKind, gotKey, ok := dependents.AnnotatedOwner(&metav1.ObjectMeta{Annotations: c.annotations})
		if gotKind != c.kind || gotKey != c.key || ok != c.ok {
			t.Errorf("%s: got %v %v %v", name, gotKind, gotKey, ok)
		}
	}
}
