package release

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/testdata/parallel"
)

// plane is the control plane of all tests, started by the first that needs it.
var plane struct {
	start sync.Once
	*controlplane.ControlPlane
	err error
}

func TestMain(m *testing.M) {
	parallel.Wait()
	code := m.Run()
	if plane.ControlPlane != nil {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// widgetCRD is the kind of the custom resources.
const widgetCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// brokenAPIService is an API group that cannot be discovered during all tests.
const brokenAPIService = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.broken.example.com}
spec: {group: broken.example.com, version: v1, groupPriorityMinimum: 100, versionPriority: 100, service: {name: missing, namespace: default}}
`

// An env is a namespace with a custom resource.
type env struct {
	*testing.T
	factory   *Factory
	namespace string
	owner     *unstructured.Unstructured
	// requests are the requests sent since the last call of takeRequests.
	requests *requestLog
}

func startPlane(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it starts a control plane")
	}
	plane.start.Do(func() {
		options := controlplane.DefaultOptions(os.Environ())
		options.Progress = func(message string) { fmt.Fprintln(os.Stderr, message) }
		assets, err := controlplane.Ensure(context.Background(), options)
		if err == nil {
			plane.ControlPlane, err = controlplane.Start(context.Background(), assets, controlplane.StartOptions{Environ: os.Environ()})
		}
		if plane.err = err; err != nil {
			return
		}
		e := &env{T: t, namespace: "default"}
		e.connect()
		e.apply(brokenAPIService)
		e.apply(widgetCRD)
		e.waitServed("example.com/v1", "Widget")
	})
	if plane.err != nil {
		t.Fatal(plane.err)
	}
}

// newEnv returns a new namespace with a custom resource.
func newEnv(t *testing.T) *env {
	t.Helper()
	startPlane(t)
	e := &env{T: t, namespace: strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))}
	e.connect()
	e.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + e.namespace + "}")
	e.owner = e.apply("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: web, namespace: " + e.namespace + "}")
	return e
}

// connect creates a factory, as a new process does.
func (e *env) connect() {
	e.Helper()
	e.requests = &requestLog{}
	config := &rest.Config{
		Host: plane.URL, BearerToken: plane.Token, TLSClientConfig: rest.TLSClientConfig{CAData: plane.CAData}, QPS: -1,
	}
	config.Wrap(e.requests.wrap)
	var err error
	if e.factory, err = NewFactory(Config{REST: config, HookTimeout: 5 * time.Second}); err != nil {
		e.Fatal(err)
	}
}

// release returns the release of the custom resource.
func (e *env) release(chart *chartv2.Chart, values map[string]any, options ...func(*Options)) *Release {
	e.Helper()
	o := Options{Owner: e.owner, Chart: chart, Values: values, MaxHistory: DefaultMaxHistory}
	for _, option := range options {
		option(&o)
	}
	r, err := e.factory.Release(o)
	if err != nil {
		e.Fatal(err)
	}
	return r
}

// chart returns a chart from files of a txtar archive. Chart.yaml is added if it is missing.
func (e *env) chart(files string) *chartv2.Chart {
	e.Helper()
	return testChart(e.T, files)
}

func testChart(t *testing.T, files string) *chartv2.Chart {
	t.Helper()
	buffered := map[string]*archive.BufferedFile{"Chart.yaml": {
		Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: demo\nversion: 1.0.0\n"),
	}}
	for _, file := range txtar.Parse([]byte(files)).Files {
		buffered[file.Name] = &archive.BufferedFile{Name: file.Name, Data: file.Data}
	}
	var list []*archive.BufferedFile
	for _, file := range buffered {
		list = append(list, file)
	}
	chart, err := loader.LoadFiles(list)
	if err != nil {
		t.Fatal(err)
	}
	return chart
}

// info maps an object in the namespace of the test.
func (e *env) object(manifest string) (*Release, *unstructured.Unstructured) {
	e.Helper()
	object := &unstructured.Unstructured{}
	if err := safeyaml.UnmarshalJSON([]byte(manifest), &object.Object); err != nil {
		e.Fatal(err)
	}
	return &Release{factory: e.factory, namespace: e.namespace}, object
}

// apply creates an object.
func (e *env) apply(manifest string) *unstructured.Unstructured {
	e.Helper()
	r, object := e.object(manifest)
	info, err := r.info(object)
	if err != nil {
		e.Fatal(err)
	}
	created, err := r.create(context.Background(), info)
	if err != nil {
		e.Fatal(err)
	}
	return created
}

// find returns an object, or nil. The reference is "apiVersion kind [namespace/]name".
func (e *env) find(reference string) *unstructured.Unstructured {
	e.Helper()
	r, object := e.reference(reference)
	info, err := r.info(object)
	if err != nil {
		e.Fatal(err)
	}
	live, err := r.get(context.Background(), info)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		e.Fatal(err)
	}
	return live
}

func (e *env) reference(reference string) (*Release, *unstructured.Unstructured) {
	words := strings.Fields(reference)
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": words[0], "kind": words[1]}}
	object.SetName(words[2])
	if namespace, name, ok := strings.Cut(words[2], "/"); ok {
		object.SetNamespace(namespace)
		object.SetName(name)
	}
	return &Release{factory: e.factory, namespace: e.namespace}, object
}

func (e *env) must(reference string) *unstructured.Unstructured {
	e.Helper()
	live := e.find(reference)
	if live == nil {
		e.Fatalf("%s does not exist", reference)
	}
	return live
}

func (e *env) mustNot(reference string) {
	e.Helper()
	if live := e.find(reference); live != nil && live.GetDeletionTimestamp() == nil {
		e.Errorf("%s exists", reference)
	}
}

// update changes an object as another client.
func (e *env) update(reference string, change func(*unstructured.Unstructured)) {
	e.Helper()
	r, object := e.reference(reference)
	info, err := r.info(object)
	if err != nil {
		e.Fatal(err)
	}
	live := e.must(reference)
	change(live)
	if err := request(restClient(info).Put(), info, true).Body(live).Do(context.Background()).Error(); err != nil {
		e.Fatal(err)
	}
}

// remove deletes an object as another client.
func (e *env) remove(reference string) {
	e.Helper()
	r, object := e.reference(reference)
	info, err := r.info(object)
	if err != nil {
		e.Fatal(err)
	}
	if err := r.delete(context.Background(), info, e.must(reference)); err != nil {
		e.Fatal(err)
	}
}

// field returns a field of an object as text.
func (e *env) field(reference string, path ...string) string {
	e.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(e.must(reference).Object, path...)
	if err != nil {
		e.Fatal(err)
	}
	return fmt.Sprint(value)
}

// waitServed waits until the API server serves a kind.
func (e *env) waitServed(apiVersion, kind string) {
	e.Helper()
	e.eventually(kind+" is served", func() bool {
		resources, err := e.factory.discovery.ServerResourcesForGroupVersion(apiVersion)
		if err != nil {
			return false
		}
		for _, resource := range resources.APIResources {
			if resource.Kind == kind {
				return true
			}
		}
		return false
	})
}

func (e *env) eventually(what string, condition func() bool) {
	e.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !condition(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			e.Fatalf("timeout: %s", what)
		}
	}
}

// records returns the stored revisions with their status, such as "1 superseded, 2 deployed".
func (e *env) records() string {
	e.Helper()
	revisions, err := e.release(nil, nil).history()
	if err != nil {
		e.Fatal(err)
	}
	var records []string
	for _, revision := range revisions {
		records = append(records, fmt.Sprint(revision.Version, " ", revision.Info.Status))
	}
	return strings.Join(records, ", ")
}

// secrets returns the stored records.
func (e *env) secrets() []v1.Secret {
	e.Helper()
	list, err := e.factory.core.Secrets(e.namespace).List(context.Background(), metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil {
		e.Fatal(err)
	}
	return list.Items
}
