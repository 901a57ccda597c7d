package golden

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/controlplane"
)

// A managedCluster is a cluster with the manager of a project.
type managedCluster struct {
	*clitest.Cluster
	// log is the output of the manager.
	log clitest.Buffer
}

// logs waits until the output of the manager contains a text.
func (c *managedCluster) logs(want string) {
	c.T.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !strings.Contains(c.log.String(), want); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.T.Fatalf("the manager's log does not hold %q", want)
		}
	}
}

// startManager builds the manager of a project and runs it with the permissions in its manifests.
func (c *managedCluster) startManager(dir, serviceAccount string, args ...string) {
	c.T.Helper()
	manager := clitest.BuildProgram(c.T, dir, "./cmd")
	ctx, cancel := context.WithCancel(context.Background())
	args = append(args, "--metrics-bind-address=0", "--health-probe-bind-address=0")
	m := exec.CommandContext(ctx, manager, args...)
	m.Env = append(os.Environ(), "KUBECONFIG="+c.KubeconfigAs(serviceAccount))
	m.Stdout, m.Stderr = &c.log, &c.log
	if err := m.Start(); err != nil {
		c.T.Fatal(err)
	}
	c.T.Cleanup(func() {
		cancel()
		_ = m.Wait() // it was killed
		if c.T.Failed() {
			c.T.Logf("the manager's log:\n%s", c.log.String())
		}
	})
}

// deploy applies config/default of a project and runs its manager on this machine. It replaces cert-manager and the network: the
// API server calls the webhooks at a local port.
func (c *managedCluster) deploy(dir, serviceAccount string) {
	c.T.Helper()
	port := clitest.SetFreeWebhookPort(c.T, dir)
	certs := c.T.TempDir()
	ca, err := controlplane.WriteServingCertificate(certs)
	if err != nil {
		c.T.Fatal(err)
	}
	var applied []any
	for _, o := range buildObjects(c.T, dir, "config/default") {
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
		c.T.Fatal(err)
	}
	c.Must(string(list), "apply", "-f", "-")
	c.Must("", "wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
	c.startManager(dir, serviceAccount, "--webhook-cert-path="+certs)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close() // it was open
			return
		}
		if time.Now().After(deadline) {
			c.T.Fatalf("the manager serves no webhooks: %v", err)
		}
	}
}

// TestMemcachedManager runs the golden memcached operator on a real API server, with the service account of its manifests:
// default, reject, create, scale, recover, fail, delete.
func TestMemcachedManager(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	c := &managedCluster{Cluster: clitest.StartCluster(t)}
	c.deploy(dir, "memcached-operator-system:memcached-operator-controller-manager")

	const deployment, object = "deployment/memcached-sample", "memcached/memcached-sample"
	condition := func(kind string) string {
		return fmt.Sprintf(`jsonpath={.status.conditions[?(@.type=="%s")].status}`, kind)
	}
	c.Must("", "apply", "-f", filepath.Join(dir, "config", "samples", "cache_v1alpha1_memcached.yaml"))
	c.Eventually("1 memcached:1.6.39-alpine", "get", deployment, "-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}")
	c.Eventually("Memcached", "get", deployment, "-o", "jsonpath={.metadata.ownerReferences[0].kind}")
	c.Eventually("True", "get", object, "-o", condition("Progressing"))
	c.Eventually("False", "get", object, "-o", condition("Available"))

	// Default: the sample has no memory size.
	c.Eventually("64", "get", object, "-o", "jsonpath={.spec.memoryMegabytes}")
	many := "apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata: {name: many}\nspec: {size: 100}\n"
	if memory := c.Must(many, "create", "--dry-run=server", "-f", "-", "-o", "jsonpath={.spec.memoryMegabytes}"); memory != "10" {
		t.Errorf("memory of each of 100 pods = %s MB, want 10", memory)
	}

	// Reject.
	c.MustRefuse(`The Memcached "many" is invalid: spec.memoryMegabytes: Invalid value: 11: `+
		`100 pods with this much take more than the 1024 MB that a Memcached may have`,
		strings.Replace(many, "size: 100", "size: 100, memoryMegabytes: 11", 1), "create", "-f", "-")
	c.MustRefuse(`spec.memoryMegabytes: Invalid value: 64: 17 pods with this much take more than the 1024 MB`,
		"", "patch", object, "--type=merge", "-p", `{"spec":{"size":17}}`)
	c.MustRefuse(`spec.containerPort: Forbidden: the port cannot change while there are pods; set size to 0 first`,
		"", "patch", object, "--type=merge", "-p", `{"spec":{"containerPort":11212}}`)

	// Warn, and allow the other port without pods.
	if out := c.Must("", "patch", object, "--type=merge", "-p", `{"spec":{"size":0}}`); !strings.Contains(out, "Warning: spec.size is 0: no pods run") {
		t.Errorf("no warning about size 0: %s", out)
	}
	c.Eventually("0", "get", deployment, "-o", "jsonpath={.spec.replicas}")
	c.Must("", "patch", object, "--type=merge", "-p", `{"spec":{"containerPort":11212,"memoryMegabytes":128}}`)
	c.Eventually("11212 -m=128", "get", deployment, "-o",
		"jsonpath={.spec.template.spec.containers[0].ports[0].containerPort} {.spec.template.spec.containers[0].command[1]}")

	// Scale.
	c.Must("", "patch", object, "--type=merge", "-p", `{"spec":{"size":3}}`)
	c.Eventually("3", "get", deployment, "-o", "jsonpath={.spec.replicas}")

	// Without a kubelet, the test creates the pod and the status of the Deployment.
	labels := c.Must("", "get", deployment, "-o", "jsonpath={.spec.template.metadata.labels}")
	c.Must(fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"memcached-sample-0","namespace":"default","labels":%s},`+
		`"spec":{"automountServiceAccountToken":false,"containers":[{"name":"memcached","image":"memcached"}]}}`, labels), "apply", "--validate=false", "-f", "-")
	c.Eventually(`["memcached-sample-0"]`, "get", object, "-o", "jsonpath={.status.nodes}")
	generation := c.Must("", "get", deployment, "-o", "jsonpath={.metadata.generation}")
	c.Must("", "patch", deployment, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status":{"observedGeneration":%s,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3}}`, generation))
	c.Eventually("True", "get", object, "-o", condition("Available"))
	c.Eventually("False", "get", object, "-o", condition("Progressing"))

	// Revert changes of other clients.
	c.Must("", "patch", deployment, "--type=merge", "-p", `{"spec":{"replicas":7}}`)
	c.Eventually("3", "get", deployment, "-o", "jsonpath={.spec.replicas}")

	// Break.
	c.Must("", "patch", deployment, "--subresource=status", "--type=merge", "-p",
		`{"status":{"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"exceeded quota"}]}}`)
	c.Eventually("True", "get", object, "-o", condition("Degraded"))
	c.Eventually("FailedCreate", "get", object, "-o", `jsonpath={.status.conditions[?(@.type=="Degraded")].reason}`)

	// Delete: no finalizer prevents it.
	c.Must("", "delete", object, "--timeout=30s")
	events := c.Must("", "get", "events", "-o", "jsonpath={.items[*].reason}")
	for _, reason := range []string{"Created", "Updated"} {
		if !strings.Contains(events, reason) {
			t.Errorf("no event %s among %q", reason, events)
		}
	}
}

// TestGoldenTests runs the tests of the golden projects on a real API server.
func TestGoldenTests(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it runs the tests of projects")
	for _, name := range clitest.GoldenProjects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.CheckProjectTests(t, clitest.CopyGolden(t, name), []string{"./..."}, "ok  \t")
		})
	}
}
