package helmoperator_test

import (
	"context"
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
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/helmoperator"
	"github.com/operon-sdk/operon/testdata/parallel"
)

// plane is the control plane of all tests, started by the first one that needs it.
var plane = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	options := controlplane.DefaultOptions(os.Environ())
	options.Parts, options.NoDownload, options.KubebuilderAssets = controlplane.WorkloadParts(), true, ""
	options.Progress = func(message string) { fmt.Fprintln(os.Stderr, message) }
	assets, err := controlplane.Ensure(context.Background(), options)
	if err != nil {
		return nil, err
	}
	start := controlplane.StartOptions{Environ: os.Environ()}
	p, err := controlplane.Start(context.Background(), assets, start)
	if err != nil {
		return nil, err
	}
	started.Store(p)
	return p, p.StartWorkloads(context.Background(), start, time.Now)
})

var started atomic.Pointer[controlplane.ControlPlane]

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard())
	parallel.Wait()
	code := m.Run()
	if p := started.Load(); p != nil {
		if err := p.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// env is a namespace and a kind of a test.
type env struct {
	*testing.T
	namespace string
	gvk       schema.GroupVersionKind
	config    *rest.Config
	client    client.Client
	log       *logs
}

// logs are the messages of the managers of a test.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

var kinds atomic.Int32

// newEnv creates a namespace and the CRD of a new kind.
func newEnv(t *testing.T) *env {
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
	config.QPS, config.Burst = 200, 400
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	n := kinds.Add(1)
	e := &env{
		T: t, namespace: fmt.Sprintf("test-%d", n), config: config, client: c, log: &logs{},
		gvk: schema.GroupVersionKind{Group: "example.com", Version: "v1alpha1", Kind: fmt.Sprintf("App%d", n)},
	}
	e.apply(fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", e.namespace))
	e.createCRD(e.gvk)
	return e
}

// createCRD creates a kind with open spec and status, which is cluster-scoped if its name begins with Cluster.
func (e *env) createCRD(gvk schema.GroupVersionKind) {
	e.Helper()
	open := true
	object := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}
	plural := strings.ToLower(gvk.Kind) + "s"
	scope := apiextensionsv1.NamespaceScoped
	if strings.HasPrefix(gvk.Kind, "Cluster") {
		scope = apiextensionsv1.ClusterScoped
	}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + gvk.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gvk.Group, Scope: scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: gvk.Kind, Singular: strings.ToLower(gvk.Kind), ListKind: gvk.Kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: gvk.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": object, "status": object},
				}},
			}},
		},
	}
	if err := e.client.Create(e.Context(), crd); err != nil {
		e.Fatal(err)
	}
	e.eventually("the CRD is served", func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		return e.client.List(e.Context(), list)
	})
}

// start runs a manager with a reconciler until the test ends or the returned function is called.
func (e *env) start(options ...helmoperator.Option) func() {
	e.Helper()
	return e.startWith(e.config, nil, append([]helmoperator.Option{helmoperator.WithGroupVersionKind(e.gvk)}, options...))
}

func (e *env) startWith(config *rest.Config, change func(*manager.Options), reconcilers ...[]helmoperator.Option) func() {
	e.Helper()
	var all []*helmoperator.Reconciler
	for _, options := range reconcilers {
		r, err := helmoperator.New(options...)
		if err != nil {
			e.Fatal(err)
		}
		all = append(all, r)
	}
	return e.startAll(config, change, all...)
}

// startAll is start for reconcilers.
func (e *env) startAll(config *rest.Config, change func(*manager.Options), all ...*helmoperator.Reconciler) func() {
	e.Helper()
	skip := true
	options := manager.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		Logger:  funcr.New(func(prefix, args string) { e.log.add(prefix + " " + args) }, funcr.Options{}),
	}
	options.Controller.SkipNameValidation = &skip
	if change != nil {
		change(&options)
	}
	mgr, err := manager.New(rest.CopyConfig(config), options)
	if err != nil {
		e.Fatal(err)
	}
	if err := helmoperator.Setup(mgr, all...); err != nil {
		e.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.Context()))
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			e.Errorf("manager: %v", err)
		}
	})
	e.Cleanup(stop)
	e.Cleanup(func() {
		if e.Failed() {
			e.Log(e.log.String())
		}
	})
	return stop
}

// eventually calls check until it returns nil.
func (e *env) eventually(what string, check func() error) {
	e.Helper()
	var err error
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	e.Fatalf("%s: %v", what, err)
}

// apply creates an object from YAML, in the namespace of the test if it has none.
func (e *env) apply(text string) *unstructured.Unstructured {
	e.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
		e.Fatal(err)
	}
	if err := e.client.Create(e.Context(), obj); err != nil {
		e.Fatal(err)
	}
	return obj
}

// create creates a custom resource.
func (e *env) create(name string, spec map[string]any, change ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	e.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(e.gvk)
	obj.SetNamespace(e.namespace)
	obj.SetName(name)
	for _, c := range change {
		c(obj)
	}
	if err := e.client.Create(e.Context(), obj); err != nil {
		e.Fatal(err)
	}
	return obj
}

// get returns an object of any kind in the namespace of the test, or an error.
func (e *env) get(apiVersion, kind, name string) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion(apiVersion)
	obj.SetKind(kind)
	return obj, e.client.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: name}, obj)
}

// resource returns a custom resource.
func (e *env) resource(name string) (*unstructured.Unstructured, error) {
	apiVersion, kind := e.gvk.ToAPIVersionAndKind()
	return e.get(apiVersion, kind, name)
}

// patch merges YAML into an object.
func (e *env) patch(obj *unstructured.Unstructured, text string, subresource ...string) {
	e.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		e.Fatal(err)
	}
	patch := client.RawPatch("application/merge-patch+json", data)
	if len(subresource) > 0 {
		err = e.client.SubResource(subresource[0]).Patch(e.Context(), obj, patch)
	} else {
		err = e.client.Patch(e.Context(), obj, patch)
	}
	if err != nil {
		e.Fatal(err)
	}
}

// conditionOf returns STATUS/REASON of a condition and its message.
func conditionOf(obj *unstructured.Unstructured, kind string) (string, string) {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if m := c.(map[string]any); m["type"] == kind {
			reason, _ := m["reason"].(string)
			message, _ := m["message"].(string)
			if m["observedGeneration"] != obj.GetGeneration() {
				return fmt.Sprintf("generation %v of %v", m["observedGeneration"], obj.GetGeneration()), message
			}
			return m["status"].(string) + "/" + reason, message
		}
	}
	return "absent", ""
}

// waitFor waits until a custom resource has a condition "STATUS/REASON", for its current generation, and returns it.
func (e *env) waitFor(name, kind, want string) *unstructured.Unstructured {
	e.Helper()
	var obj *unstructured.Unstructured
	e.eventually(kind+" of "+name, func() (err error) {
		if obj, err = e.resource(name); err != nil {
			return err
		}
		if got, message := conditionOf(obj, kind); got != want {
			return fmt.Errorf("condition %s is %s (%s), want %s; status %v", kind, got, message, want, obj.Object["status"])
		}
		return nil
	})
	return obj
}

// waitGone waits until an object does not exist.
func (e *env) waitGone(apiVersion, kind, name string) {
	e.Helper()
	e.eventually(kind+" "+name+" is gone", func() error {
		obj, err := e.get(apiVersion, kind, name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("it exists: %v", obj.Object)
		}
		return err
	})
}

// delete deletes a custom resource and waits until it is gone.
func (e *env) delete(name string) {
	e.Helper()
	obj, err := e.resource(name)
	if err == nil {
		err = e.client.Delete(e.Context(), obj)
	}
	if err != nil {
		e.Fatal(err)
	}
	apiVersion, kind := e.gvk.ToAPIVersionAndKind()
	e.waitGone(apiVersion, kind, name)
}

// revisions returns the names of the records of releases in the namespace of the test.
func (e *env) revisions() []string {
	e.Helper()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "SecretList"})
	if err := e.client.List(e.Context(), list, client.InNamespace(e.namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
		e.Fatal(err)
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.Name)
	}
	return names
}

// chart returns a chart with templates.
func chart(name, values string, templates map[string]string) *chartv2.Chart {
	c := &chartv2.Chart{Metadata: &chartv2.Metadata{APIVersion: "v2", Name: name, Version: "1.0.0"}}
	c.Values = map[string]any{}
	if err := yaml.Unmarshal([]byte(values), &c.Values); err != nil {
		panic(err)
	}
	c.Raw = append(c.Raw, &common.File{Name: "values.yaml", Data: []byte(values)})
	for file, text := range templates {
		c.Templates = append(c.Templates, &common.File{Name: "templates/" + file, Data: []byte(text)})
	}
	return c
}

// configMap is a template of a ConfigMap with the value "text".
const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-config
data:
  text: {{ .Values.text | quote }}
`

// requests counts the requests of a manager, "METHOD path".
type requests struct {
	mu   sync.Mutex
	seen []string
}

func (r *requests) wrap(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			r.mu.Lock()
			r.seen = append(r.seen, request.Method+" "+request.URL.RequestURI())
			r.mu.Unlock()
			return next.RoundTrip(request)
		})
	})
	return config
}

func (r *requests) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	r.seen = nil
	return seen
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
