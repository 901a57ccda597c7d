package ansibleoperator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/testdata/ansible"
	"github.com/operon-sdk/operon/testdata/parallel"
)

// plane is the control plane of all tests, started by the first one that needs it.
var plane = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	options := controlplane.DefaultOptions(os.Environ())
	options.NoDownload = true
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

// env is a group of kinds, a namespace, and a directory with playbooks and roles.
type env struct {
	*testing.T
	group, namespace, dir, runs string
	config                      *rest.Config
	client                      client.Client
	log                         *logs
	environ                     []string
	options                     []ansibleoperator.Option
	// restarted is set after the first operator of the test.
	restarted bool
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

var groups atomic.Int32

// newEnv creates a namespace and kinds, which are cluster-scoped if their names start with "Cluster".
func newEnv(t *testing.T, kinds ...string) *env {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it starts a control plane")
	}
	ansible.Require(t)
	p, err := plane()
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(p.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := groups.Add(1)
	dir := t.TempDir()
	e := &env{
		T: t, group: fmt.Sprintf("g%d.example.com", n), namespace: fmt.Sprintf("test-%d", n), dir: dir, runs: filepath.Join(dir, "runs"),
		config: config, client: c, log: &logs{}, environ: append(os.Environ(), "ANSIBLE_GATHERING=explicit"),
	}
	e.create("{apiVersion: v1, kind: Namespace, metadata: {name: " + e.namespace + "}}")
	for _, kind := range kinds {
		e.createKind(e.group, kind, openSchema)
	}
	return e
}

const openSchema = "{type: object, x-kubernetes-preserve-unknown-fields: true}"

// createKind creates a CRD.
func (e *env) createKind(group, kind, schema string) {
	e.Helper()
	scope := "Namespaced"
	if strings.HasPrefix(kind, "Cluster") {
		scope = "Cluster"
	}
	e.create(fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.%[2]s}
spec:
  group: %[2]s
  scope: %[5]s
  names: {plural: %[1]ss, singular: %[1]s, kind: %[3]s, listKind: %[3]sList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: %[4]s}
`, strings.ToLower(kind), group, kind, schema, scope))
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(group + "/v1")
	list.SetKind(kind + "List")
	e.eventually(kind+" is served", func() error { return e.client.List(e.Context(), list) })
}

// write writes a file of the project.
func (e *env) write(name, text string) {
	e.Helper()
	name = filepath.Join(e.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		e.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		e.Fatal(err)
	}
}

// role writes a role with tasks.
func (e *env) role(name, tasks string) { e.write("roles/"+name+"/tasks/main.yml", tasks) }

// start runs an operator with the entries of a watches.yaml until the test ends or the returned function is called. GROUP in the
// entries is the group of the test.
func (e *env) start(entries string, change ...func(*ansibleoperator.Settings, *manager.Options)) func() {
	e.Helper()
	settings := ansibleoperator.Settings{Environ: e.environ, Dir: e.dir, RunDirectory: e.runs, MetricsAddress: "0"}
	// Controllers have the names of kinds, and each test has its own kinds.
	skip := e.restarted
	e.restarted = true
	options := manager.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		Logger:  funcr.New(func(prefix, args string) { e.log.add(prefix + " " + args) }, funcr.Options{}),
		Cache:   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
	}
	options.Controller.SkipNameValidation = &skip
	for _, c := range change {
		c(&settings, &options)
	}
	reconcilers := e.load(entries, settings)
	mgr, err := manager.New(rest.CopyConfig(e.config), options)
	if err != nil {
		e.Fatal(err)
	}
	if err := ansibleoperator.Setup(mgr, settings, reconcilers...); err != nil {
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

// load writes a watches.yaml and returns its reconcilers.
func (e *env) load(entries string, settings ansibleoperator.Settings) []*ansibleoperator.Reconciler {
	e.Helper()
	e.write("watches.yaml", strings.ReplaceAll(entries, "GROUP", e.group))
	reconcilers, err := ansibleoperator.LoadWatches(filepath.Join(e.dir, "watches.yaml"), settings, nil,
		append([]ansibleoperator.Option{ansibleoperator.WithMaxConcurrentReconciles(2)}, e.options...)...)
	if err != nil {
		e.Fatal(err)
	}
	return reconcilers
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

// create creates an object from YAML.
func (e *env) create(text string) *unstructured.Unstructured {
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

// resource creates a custom resource in the namespace of the test with more keys as YAML.
func (e *env) resource(kind, name, keys string) *unstructured.Unstructured {
	e.Helper()
	metadata := "namespace: " + e.namespace + ", "
	if strings.HasPrefix(kind, "Cluster") {
		metadata = ""
	}
	return e.create(fmt.Sprintf("apiVersion: %s/v1\nkind: %s\nmetadata: {%sname: %s}\n%s", e.group, kind, metadata, name, keys))
}

// read reads an object again.
func (e *env) read(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	current := &unstructured.Unstructured{}
	current.SetGroupVersionKind(obj.GroupVersionKind())
	return current, e.client.Get(e.Context(), client.ObjectKeyFromObject(obj), current)
}

// get returns an object in the namespace of the test.
func (e *env) get(apiVersion, kind, name string) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion(apiVersion)
	obj.SetKind(kind)
	return obj, e.client.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: name}, obj)
}

// patch merges YAML into an object.
func (e *env) patch(obj *unstructured.Unstructured, text string) {
	e.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = e.client.Patch(e.Context(), obj, client.RawPatch("application/merge-patch+json", data))
	}
	if err != nil {
		e.Fatal(err)
	}
}

// conditionOf returns a condition of obj, or nil. Ready must be about the current generation.
func conditionOf(obj *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if m := c.(map[string]any); m["type"] == kind && (kind != "Ready" || m["observedGeneration"] == obj.GetGeneration()) {
			return m
		}
	}
	return nil
}

// waitReady waits until the condition Ready of a resource is "STATUS/REASON" and returns the resource.
func (e *env) waitReady(obj *unstructured.Unstructured, want string) *unstructured.Unstructured {
	e.Helper()
	return e.waitCondition(obj, "Ready", want)
}

// waitCondition waits until a condition of a resource is "STATUS/REASON" and returns the resource.
func (e *env) waitCondition(obj *unstructured.Unstructured, kind, want string) *unstructured.Unstructured {
	e.Helper()
	var current *unstructured.Unstructured
	e.eventually(obj.GetKind()+" "+obj.GetName()+" is "+kind+" "+want, func() (err error) {
		if current, err = e.read(obj); err != nil {
			return err
		}
		if c := conditionOf(current, kind); c == nil || fmt.Sprint(c["status"], "/", c["reason"]) != want {
			return fmt.Errorf("status %v", current.Object["status"])
		}
		return nil
	})
	return current
}

// delete deletes an object and waits until it is gone.
func (e *env) delete(obj *unstructured.Unstructured) {
	e.Helper()
	if err := e.client.Delete(e.Context(), obj); err != nil {
		e.Fatal(err)
	}
	e.waitGone(obj)
}

func (e *env) waitGone(obj *unstructured.Unstructured) {
	e.Helper()
	e.eventually(obj.GetName()+" is gone", func() error {
		current, err := e.read(obj)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("it exists: %v", current.Object))
	})
}

// gvk returns a kind of the test.
func (e *env) gvk(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: e.group, Version: "v1", Kind: kind}
}
