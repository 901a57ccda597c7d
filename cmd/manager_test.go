package cmd_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

// controlPlaneAssets finds or builds etcd, kube-apiserver and kubectl, once for all tests.
var controlPlaneAssets = sync.OnceValues(func() (controlplane.Assets, error) {
	options := controlplane.DefaultOptions(os.Getenv)
	options.Parts = []string{controlplane.Etcd, controlplane.KubeAPIServer, controlplane.Kubectl}
	options.Progress = func(e controlplane.Event) { fmt.Fprintln(os.Stderr, e.Message) }
	return controlplane.Ensure(context.Background(), options)
})

// localAssets are what run local needs, built here rather than in the middle of a test's time.
var localAssets = sync.OnceValues(func() (controlplane.Assets, error) {
	options := controlplane.DefaultOptions(os.Getenv)
	options.Parts, options.NoDownload = controlplane.WorkloadParts(), true
	options.KubebuilderAssets = ""
	options.Progress = func(e controlplane.Event) { fmt.Fprintln(os.Stderr, e.Message) }
	return controlplane.Ensure(context.Background(), options)
})

// cluster is a running API server with a kubectl that talks to it.
type cluster struct {
	t *testing.T
	*controlplane.ControlPlane
	assets     controlplane.Assets
	kubeconfig string
}

// managedCluster is a cluster with the manager of a project.
type managedCluster struct {
	*cluster
	// log is what the manager writes.
	log lockedBuffer
}

// lockedBuffer is read while another goroutine writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	assets, err := controlPlaneAssets()
	if err != nil {
		t.Fatal(err)
	}
	plane, err := controlplane.Start(context.Background(), assets, controlplane.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return &cluster{t: t, ControlPlane: plane, assets: assets, kubeconfig: plane.KubeconfigPath()}
}

// kubectl runs kubectl with a manifest on stdin and returns what it prints.
func (c *cluster) kubectl(stdin string, args ...string) (string, error) {
	k := exec.Command(c.assets.Path(controlplane.Kubectl), args...)
	k.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	k.Stdin = strings.NewReader(stdin)
	out, err := k.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

func (c *cluster) must(stdin string, args ...string) string {
	c.t.Helper()
	out, err := c.kubectl(stdin, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// refuses holds that a request ends with an error that has a text.
func (c *cluster) refuses(want, stdin string, args ...string) {
	c.t.Helper()
	if out, err := c.kubectl(stdin, args...); err == nil || !strings.Contains(out, want) {
		c.t.Errorf("kubectl %s says %q (%v), want %q", strings.Join(args, " "), out, err, want)
	}
}

// eventually asks until the answer is as wanted.
func (c *cluster) eventually(want string, args ...string) {
	c.t.Helper()
	var got string
	var err error
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if got, err = c.kubectl("", args...); err == nil && strings.TrimSpace(got) == want {
			return
		}
	}
	c.t.Fatalf("kubectl %s: got %q (%v), want %q", strings.Join(args, " "), got, err, want)
}

// logs waits until the manager has written a text.
func (c *managedCluster) logs(want string) {
	c.t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(c.log.String(), want); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("the manager's log does not hold %q", want)
		}
	}
}

// kubeconfigAs writes a kubeconfig that acts as a service account: what its roles do not allow fails.
func (c *cluster) kubeconfigAs(serviceAccount string) string {
	c.t.Helper()
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: local
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: manager
  user:
    token: %s
    as: system:serviceaccount:%s
    as-groups: ["system:serviceaccounts", "system:authenticated"]
contexts:
- name: local
  context: {cluster: local, user: manager}
current-context: local
`, c.URL, base64.StdEncoding.EncodeToString(c.CAData), c.Token, serviceAccount)
	name := filepath.Join(c.t.TempDir(), "kubeconfig")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return name
}

// startManager builds a project's manager and runs it with no more rights than its manifests give it.
func (c *managedCluster) startManager(dir, serviceAccount string, args ...string) {
	c.t.Helper()
	goRun(c.t, dir, nil, "build", "-o", "bin/manager", "./cmd")
	ctx, cancel := context.WithCancel(context.Background())
	args = append(args, "--metrics-bind-address=0", "--health-probe-bind-address=0")
	m := exec.CommandContext(ctx, filepath.Join(dir, "bin", "manager"), args...)
	m.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfigAs(serviceAccount))
	m.Stdout, m.Stderr = &c.log, &c.log
	if err := m.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		cancel()
		_ = m.Wait() // it was killed
		if c.t.Failed() {
			c.t.Logf("the manager's log:\n%s", c.log.String())
		}
	})
}

// deploy applies a project's config/default and runs its manager here. The test plays cert-manager and
// the network: the API server calls the webhooks at a port of this machine.
func (c *managedCluster) deploy(dir, serviceAccount string) {
	c.t.Helper()
	port := freeWebhookPort(c.t, dir)
	certs := c.t.TempDir()
	ca, err := controlplane.WriteServingCertificate(certs)
	if err != nil {
		c.t.Fatal(err)
	}
	var applied []any
	for _, o := range buildObjects(c.t, dir, "config/default") {
		if o.GroupVersionKind().Group == "cert-manager.io" {
			continue
		}
		for _, config := range clientConfigs(o) {
			service := config["service"].(map[string]any)
			delete(config, "service")
			config["url"] = fmt.Sprintf("https://127.0.0.1:%d%s", port, service["path"])
			config["caBundle"] = base64.StdEncoding.EncodeToString(ca)
		}
		applied = append(applied, o.Object)
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": applied})
	if err != nil {
		c.t.Fatal(err)
	}
	c.must(string(list), "apply", "-f", "-")
	c.must("", "wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
	c.startManager(dir, serviceAccount, "--webhook-cert-path="+certs)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close() // it was open
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("the manager serves no webhooks: %v", err)
		}
	}
}

// freeWebhookPort makes a project's manager serve webhooks on a port that nobody uses, as tests run side by
// side. Systems hand out higher ports to whoever asks for any.
func freeWebhookPort(t *testing.T, dir string) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(10000)
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		substitute(t, filepath.Join(dir, "cmd", "main.go"), "webhook.Options{", fmt.Sprintf("webhook.Options{Port: %d, ", port))
		return port
	}
	t.Fatal("no port is free")
	return 0
}

// TestMemcachedManager runs the golden memcached operator against a real API server, as the service
// account that its own manifests make: default, reject, create, scale, recover, fail, delete.
func TestMemcachedManager(t *testing.T) {
	t.Parallel()
	dir := golden(t, "memcached-operator")
	c := &managedCluster{cluster: startCluster(t)}
	c.deploy(dir, "memcached-operator-system:memcached-operator-controller-manager")

	const deployment, object = "deployment/memcached-sample", "memcached/memcached-sample"
	condition := func(kind string) string {
		return fmt.Sprintf(`jsonpath={.status.conditions[?(@.type=="%s")].status}`, kind)
	}
	c.must("", "apply", "-f", filepath.Join(dir, "config", "samples", "cache_v1alpha1_memcached.yaml"))
	c.eventually("1 memcached:1.6.39-alpine", "get", deployment, "-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}")
	c.eventually("Memcached", "get", deployment, "-o", "jsonpath={.metadata.ownerReferences[0].kind}")
	c.eventually("True", "get", object, "-o", condition("Progressing"))
	c.eventually("False", "get", object, "-o", condition("Available"))

	// Default: the sample does not say how much memory.
	c.eventually("64", "get", object, "-o", "jsonpath={.spec.memoryMegabytes}")
	many := "apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata: {name: many}\nspec: {size: 100}\n"
	if memory := c.must(many, "create", "--dry-run=server", "-f", "-", "-o", "jsonpath={.spec.memoryMegabytes}"); memory != "10" {
		t.Errorf("a hundred pods get %s MB each, want 10", memory)
	}

	// Reject.
	c.refuses(`The Memcached "many" is invalid: spec.memoryMegabytes: Invalid value: 11: `+
		`100 pods with this much take more than the 1024 MB that a Memcached may have`,
		strings.Replace(many, "size: 100", "size: 100, memoryMegabytes: 11", 1), "create", "-f", "-")
	c.refuses(`spec.memoryMegabytes: Invalid value: 64: 17 pods with this much take more than the 1024 MB`,
		"", "patch", object, "--type=merge", "-p", `{"spec":{"size":17}}`)
	c.refuses(`spec.containerPort: Forbidden: the port cannot change while there are pods; set size to 0 first`,
		"", "patch", object, "--type=merge", "-p", `{"spec":{"containerPort":11212}}`)

	// Warn, and allow the other port without pods.
	if out := c.must("", "patch", object, "--type=merge", "-p", `{"spec":{"size":0}}`); !strings.Contains(out, "Warning: spec.size is 0: no pods run") {
		t.Errorf("there is no warning about size 0: %s", out)
	}
	c.eventually("0", "get", deployment, "-o", "jsonpath={.spec.replicas}")
	c.must("", "patch", object, "--type=merge", "-p", `{"spec":{"containerPort":11212,"memoryMegabytes":128}}`)
	c.eventually("11212 -m=128", "get", deployment, "-o",
		"jsonpath={.spec.template.spec.containers[0].ports[0].containerPort} {.spec.template.spec.containers[0].command[1]}")

	// Scale.
	c.must("", "patch", object, "--type=merge", "-p", `{"spec":{"size":3}}`)
	c.eventually("3", "get", deployment, "-o", "jsonpath={.spec.replicas}")

	// There is no kubelet here: the test makes the pod and the Deployment's status that one would.
	labels := c.must("", "get", deployment, "-o", "jsonpath={.spec.template.metadata.labels}")
	c.must(fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"memcached-sample-0","namespace":"default","labels":%s},`+
		`"spec":{"automountServiceAccountToken":false,"containers":[{"name":"memcached","image":"memcached"}]}}`, labels), "apply", "--validate=false", "-f", "-")
	c.eventually(`["memcached-sample-0"]`, "get", object, "-o", "jsonpath={.status.nodes}")
	generation := c.must("", "get", deployment, "-o", "jsonpath={.metadata.generation}")
	c.must("", "patch", deployment, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status":{"observedGeneration":%s,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3}}`, generation))
	c.eventually("True", "get", object, "-o", condition("Available"))
	c.eventually("False", "get", object, "-o", condition("Progressing"))

	// Repair what somebody else changed.
	c.must("", "patch", deployment, "--type=merge", "-p", `{"spec":{"replicas":7}}`)
	c.eventually("3", "get", deployment, "-o", "jsonpath={.spec.replicas}")

	// Break.
	c.must("", "patch", deployment, "--subresource=status", "--type=merge", "-p",
		`{"status":{"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"exceeded quota"}]}}`)
	c.eventually("True", "get", object, "-o", condition("Degraded"))
	c.eventually("FailedCreate", "get", object, "-o", `jsonpath={.status.conditions[?(@.type=="Degraded")].reason}`)

	// Delete: the finalizer holds the object until the manager has let it go.
	c.eventually(`["cache.example.com/finalizer"]`, "get", object, "-o", "jsonpath={.metadata.finalizers}")
	c.must("", "delete", object, "--timeout=30s")
	events := c.must("", "get", "events", "-o", "jsonpath={.items[*].reason}")
	for _, reason := range []string{"Created", "Updated", "CleanedUp"} {
		if !strings.Contains(events, reason) {
			t.Errorf("no event %s among %q", reason, events)
		}
	}
}

// TestGoldenTests runs the golden projects' own tests on a real API server.
func TestGoldenTests(t *testing.T) {
	t.Parallel()
	assets, err := controlPlaneAssets()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range goldenProjects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := goRun(t, golden(t, name), []string{"KUBEBUILDER_ASSETS=" + assets.Dir}, "test", "./...")
			if !strings.Contains(out, "ok  \t") {
				t.Errorf("no test ran:\n%s", out)
			}
		})
	}
}
