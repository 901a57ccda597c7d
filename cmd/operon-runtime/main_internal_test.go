package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/testdata/parallel"
)

// programVariable is the environment variable that makes the test binary the program, or the client of wholeCache.
const programVariable = "OPERON_RUNTIME_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(programVariable) {
	case "":
	case wholeCacheProgram:
		wholeCache(os.Args[slices.Index(os.Args, "--kubeconfig")+1])
	default:
		main() // exits
	}
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

var started atomic.Pointer[controlplane.ControlPlane]

// plane is the control plane of all tests, started by the first one that needs it.
var plane = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	options := controlplane.DefaultOptions(os.Environ())
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

// env is a group of kinds, a directory with a project and access to the control plane.
type env struct {
	testing.TB
	group, dir string
	config     *rest.Config
	client     client.Client
}

var groups atomic.Int32

// newEnv returns an environment with kinds and a chart for each: its values are the data of a ConfigMap, and it has a ClusterRole.
func newEnv(t testing.TB, kinds ...string) *env {
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
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &env{TB: t, group: fmt.Sprintf("g%d.example.com", groups.Add(1)), dir: t.TempDir(), config: config, client: c}
	for _, kind := range kinds {
		e.addKind(e.group, kind)
	}
	return e
}

// addKind creates a CRD and a chart, and adds the entry to watches.yaml, which more lines can follow.
func (e *env) addKind(group, kind string, lines ...string) {
	e.Helper()
	lower := strings.ToLower(kind)
	e.createCRD(group, kind)
	chart := "helm-charts/" + lower + "-" + group
	e.write(chart+"/Chart.yaml", "apiVersion: v2\nname: "+lower+"\nversion: 1.0.0\n")
	e.write(chart+"/values.yaml", "data: {}\n")
	e.write(chart+"/templates/objects.yaml", `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {{ toJson .Values.data }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "{{ .Release.Namespace }}-{{ .Release.Name }}"}
`)
	entry := []string{"- group: " + group, "  version: v1", "  kind: " + kind, "  chart: " + chart}
	for _, line := range lines {
		entry = append(entry, "  "+line)
	}
	old, _ := os.ReadFile(filepath.Join(e.dir, "watches.yaml")) // it is missing before the first kind
	e.write("watches.yaml", string(old)+strings.Join(entry, "\n")+"\n")
}

// createCRD creates a kind and waits until it is served.
func (e *env) createCRD(group, kind string) {
	e.Helper()
	lower := strings.ToLower(kind)
	e.apply(fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.%[2]s}
spec:
  group: %[2]s
  scope: Namespaced
  names: {plural: %[1]ss, singular: %[1]s, kind: %[3]s, listKind: %[3]sList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, lower, group, kind))
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(group + "/v1")
	list.SetKind(kind + "List")
	e.eventually(kind+" is served", func() error { return e.client.List(e.Context(), list) })
}

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

// apply creates an object from YAML.
func (e *env) apply(text string) {
	e.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
		e.Fatal(err)
	}
	if err := e.client.Create(e.Context(), obj); err != nil {
		e.Fatal(err)
	}
}

// namespace creates a namespace whose name starts with a prefix.
func (e *env) namespace(prefix string) string {
	name := prefix + "-" + strings.TrimSuffix(e.group, ".example.com")
	e.apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + name + "}}")
	return name
}

// create creates a custom resource with data of its ConfigMap, and labels.
func (e *env) create(group, kind, namespace, name string, labels ...string) {
	e.Helper()
	e.createSpec(group, kind, namespace, name, "{data: {a: b}}", labels...)
}

// createSpec creates a custom resource with a spec and labels.
func (e *env) createSpec(group, kind, namespace, name, spec string, labels ...string) {
	e.Helper()
	e.apply(fmt.Sprintf("{apiVersion: %s/v1, kind: %s, metadata: {namespace: %s, name: %s, labels: {%s}}, spec: %s}",
		group, kind, namespace, name, strings.Join(labels, ", "), spec))
}

// get returns an object.
func (e *env) get(apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion(apiVersion)
	obj.SetKind(kind)
	return obj, e.client.Get(e.Context(), client.ObjectKey{Namespace: namespace, Name: name}, obj)
}

// waitDeployed waits for the condition Deployed of a custom resource.
func (e *env) waitDeployed(group, kind, namespace, name string) {
	e.Helper()
	e.eventually(kind+" "+name+" is deployed", func() error {
		obj, err := e.get(group+"/v1", kind, namespace, name)
		if err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(obj.Object, "status", "conditions")
		for _, c := range conditions {
			if m := c.(map[string]any); m["type"] == "Deployed" && m["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("status %v (%w)", obj.Object["status"], err)
	})
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

// kubeconfig writes a kubeconfig, changed by functions, and returns its path.
func (e *env) kubeconfig(change ...func(*clientcmdapi.Config)) string {
	e.Helper()
	p, err := plane()
	if err != nil {
		e.Fatal(err)
	}
	config, err := clientcmd.Load(p.Kubeconfig())
	if err != nil {
		e.Fatal(err)
	}
	for _, c := range change {
		c(config)
	}
	file := filepath.Join(e.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		e.Fatal(err)
	}
	return file
}

// A process is the program in a process of its own.
type process struct {
	*env
	cmd  *exec.Cmd
	done chan struct{}

	mu  sync.Mutex
	out bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// start runs the operator of the project with variables and arguments, without metrics and probes unless args have them.
func (e *env) start(variables []string, args ...string) *process {
	e.Helper()
	return e.startProgram(os.Args[0], helmOperator, variables, args...)
}

// startProgram runs the operator of a program.
func (e *env) startProgram(program, operator string, variables []string, args ...string) *process {
	e.Helper()
	p := &process{env: e, done: make(chan struct{})}
	p.cmd = exec.Command(program, append([]string{operator, "run", "--kubeconfig", e.kubeconfig(), "--metrics-bind-address", "0", "--health-probe-bind-address", "0"}, args...)...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = e.dir, p, p
	p.cmd.Env = append(append(os.Environ(), programVariable+"=1", "WATCH_NAMESPACE="), variables...)
	if err := p.cmd.Start(); err != nil {
		e.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // stop checks the exit code
		close(p.done)
	}()
	e.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended unless the test failed
		<-p.done
		if e.Failed() {
			e.Logf("%q:\n%s", args, p.output())
		}
	})
	return p
}

// stop sends a signal and returns the exit code and the duration until the process has ended.
func (p *process) stop(signal os.Signal) (int, time.Duration) {
	p.Helper()
	start := time.Now()
	if err := p.cmd.Process.Signal(signal); err != nil {
		p.Fatal(err)
	}
	<-p.done
	return p.cmd.ProcessState.ExitCode(), time.Since(start)
}

// mustStop stops the process as Kubernetes does.
func (p *process) mustStop() {
	p.Helper()
	if code, took := p.stop(syscall.SIGTERM); code != 0 || took > 10*time.Second {
		p.Errorf("SIGTERM: exit code %d after %s, want 0 within 10 s\n%s", code, took, p.output())
	}
}
