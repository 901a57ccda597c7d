package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/testdata/parallel"
)

// plane is the control plane of all tests, started by the first one that needs it.
var plane = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	options := controlplane.DefaultOptions(os.Environ())
	options.Parts = []string{controlplane.Etcd, controlplane.KubeAPIServer, controlplane.Kubectl}
	options.NoDownload, options.KubebuilderAssets = true, ""
	options.Progress = func(message string) { fmt.Fprintln(os.Stderr, message) }
	assets, err := controlplane.Ensure(context.Background(), options)
	if err != nil {
		return nil, err
	}
	programs = assets.Dir
	p, err := controlplane.Start(context.Background(), assets, controlplane.StartOptions{Environ: os.Environ()})
	if err == nil {
		started.Store(p)
	}
	return p, err
})

// programs is the directory of kubectl, once plane has returned.
var programs string

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

// env is a namespace with a custom resource, and a proxy.
type env struct {
	*testing.T
	config    *rest.Config
	client    client.Client // without the proxy
	namespace string
	owner     proxy.Owner
	log       *logs
	proxy     *proxy.Proxy
}

// logs are the messages of a proxy.
type logs struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logs) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(&l.text, line)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var numbers atomic.Int32

// newEnv creates a namespace with a custom resource, and starts a proxy with changed settings.
func newEnv(t *testing.T, change ...func(*proxy.Config)) *env {
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
	config.QPS = -1
	e := &env{T: t, config: config, client: newClient(t, config), namespace: fmt.Sprintf("test-%d", numbers.Add(1)), log: &logs{}}
	e.createNamespace(e.namespace)
	e.createKind("App", apiextensionsv1.NamespaceScoped)
	e.createKind("Platform", apiextensionsv1.ClusterScoped)
	e.owner = e.createOwner("App", e.namespace, "one")
	e.proxy = e.startProxy(change...)
	return e
}

// startProxy starts a proxy that stops with the test.
func (e *env) startProxy(change ...func(*proxy.Config)) *proxy.Proxy {
	e.Helper()
	httpClient, err := rest.HTTPClientFor(e.config)
	if err != nil {
		e.Fatal(err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(e.config, httpClient)
	if err != nil {
		e.Fatal(err)
	}
	settings := proxy.Config{
		REST: e.config, HTTPClient: httpClient, Mapper: mapper, InjectOwnerReferences: true,
		Log: funcr.New(func(prefix, args string) { e.log.add(prefix + " " + args) }, funcr.Options{}),
	}
	for _, c := range change {
		c(&settings)
	}
	p, err := proxy.New(settings)
	if err != nil {
		e.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.Context()))
	done := make(chan error, 1)
	go func() { done <- p.Start(ctx) }()
	e.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			e.Errorf("proxy: %v", err)
		}
		if e.Failed() {
			e.Log(e.log.String())
		}
	})
	return p
}

// A roundTripper sends a request of the proxy to the API server.
type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// through returns a change of settings: requests of the proxy to the API server are sent by a function.
func through(send func(r *http.Request, next http.RoundTripper) (*http.Response, error)) func(*proxy.Config) {
	return func(c *proxy.Config) {
		client := *c.HTTPClient
		next := client.Transport
		client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) { return send(r, next) })
		c.HTTPClient = &client
	}
}

func newClient(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
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
	return c
}

func (e *env) createNamespace(name string) {
	e.Helper()
	e.create(e.client, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", name))
}

var created sync.Map

// createKind creates a kind with open spec and status in the group example.com, once.
func (e *env) createKind(kind string, scope apiextensionsv1.ResourceScope) {
	e.Helper()
	once, _ := created.LoadOrStore(kind, &sync.Once{})
	once.(*sync.Once).Do(func() {
		open := true
		object := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}
		plural := strings.ToLower(kind) + "s"
		version := func(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
			return apiextensionsv1.CustomResourceDefinitionVersion{
				Name: name, Served: true, Storage: storage,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": object, "status": object},
				}},
			}
		}
		crd := &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com"},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "example.com", Scope: scope,
				Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind, Singular: strings.ToLower(kind), ListKind: kind + "List"},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1alpha1", true), version("v1", false)},
			},
		}
		if err := e.client.Create(e.Context(), crd); err != nil {
			e.Fatal(err)
		}
		e.eventually("the CRD is served", func() error {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind + "List"})
			return e.client.List(e.Context(), list)
		})
	})
}

// createOwner creates a custom resource.
func (e *env) createOwner(kind, namespace, name string) proxy.Owner {
	e.Helper()
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1alpha1", Kind: kind}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace(namespace)
	u.SetName(name)
	if err := e.client.Create(e.Context(), u); err != nil {
		e.Fatal(err)
	}
	return proxy.Owner{GroupVersionKind: gvk, Namespace: namespace, Name: name, UID: u.GetUID()}
}

// register starts a run of an owner and returns how to access the proxy.
func (e *env) register(owner proxy.Owner, settings proxy.Settings) (*rest.Config, func()) {
	e.Helper()
	kubeconfig, release, err := e.proxy.Register(owner, settings)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(release)
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		e.Fatal(err)
	}
	config.QPS = -1
	return config, release
}

// run starts a run of the owner of the test and returns a client for it.
func (e *env) run() client.Client {
	e.Helper()
	config, _ := e.register(e.owner, proxy.Settings{})
	return newClient(e.T, config)
}

// object returns an object from YAML, in the namespace of the test if it has none.
func (e *env) object(text string) *unstructured.Unstructured {
	e.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		e.Fatal(err)
	}
	return u
}

// create creates an object from YAML.
func (e *env) create(c client.Client, text string) *unstructured.Unstructured {
	e.Helper()
	u := e.object(text)
	if err := c.Create(e.Context(), u); err != nil {
		e.Fatal(err)
	}
	return u
}

// get returns an object from the API server.
func (e *env) get(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	e.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	if err := e.client.Get(e.Context(), types.NamespacedName{Namespace: namespace, Name: name}, u); err != nil {
		e.Fatal(err)
	}
	return u
}

// configMap returns a ConfigMap in the namespace of the test.
func (e *env) configMap(name string) *unstructured.Unstructured {
	e.Helper()
	return e.get("v1", "ConfigMap", e.namespace, name)
}

// wantOwner checks that an object has the reference to the owner of the test, as operator-sdk's proxy adds it, and no annotations.
func (e *env) wantOwner(u *unstructured.Unstructured) {
	e.Helper()
	e.wantOwners(u, "App/one")
	references, _, _ := unstructured.NestedSlice(u.Object, "metadata", "ownerReferences")
	for _, r := range references {
		if r.(map[string]any)["uid"] == string(e.owner.UID) && len(r.(map[string]any)) != 4 {
			e.Errorf("reference %v, want apiVersion, kind, name and uid", r)
		}
	}
	if u.GetAnnotations()["operator-sdk/primary-resource"] != "" {
		e.Errorf("annotations %v, want none", u.GetAnnotations())
	}
}

// wantOwners checks the owner references of an object, "KIND/NAME".
func (e *env) wantOwners(u *unstructured.Unstructured, want ...string) {
	e.Helper()
	got := []string{}
	for _, r := range u.GetOwnerReferences() {
		got = append(got, r.Kind+"/"+r.Name)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		e.Errorf("%s %s: owners %q, want %q", u.GetKind(), u.GetName(), got, want)
	}
}

// wantAnnotations checks that an object has the annotations of the owner of the test, and no reference.
func (e *env) wantAnnotations(u *unstructured.Unstructured) {
	e.Helper()
	e.wantOwners(u)
	a := u.GetAnnotations()
	if a["operator-sdk/primary-resource"] != e.namespace+"/one" || a["operator-sdk/primary-resource-type"] != "App.example.com" {
		e.Errorf("%s %s: annotations %v", u.GetKind(), u.GetName(), a)
	}
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

// send sends a request to the address of config, and returns the status and the body of the response.
func (e *env) send(config *rest.Config, method, path, contentType, body string, header ...string) (int, map[string]any) {
	e.Helper()
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		e.Fatal(err)
	}
	request, err := http.NewRequestWithContext(e.Context(), method, config.Host+path, strings.NewReader(body))
	if err != nil {
		e.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := httpClient.Do(request)
	if err != nil {
		e.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		e.Fatal(err)
	}
	var parsed map[string]any
	if err := json.Unmarshal(data, &parsed); err != nil {
		e.Fatalf("%s %s: %s: %s", method, path, response.Status, data)
	}
	return response.StatusCode, parsed
}

// errorOf returns an error with the content of a response.
func errorOf(body map[string]any) error { return fmt.Errorf("response %v", body) }
