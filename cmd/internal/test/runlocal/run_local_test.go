//go:build unix

package runlocal

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

const (
	memcached = "memcached/memcached-sample"
	crdFile   = "config/crd/bases/cache.example.com_memcacheds.yaml"
)

// unreachable is a kubeconfig whose cluster does not answer.
const unreachable = `{"apiVersion":"v1","kind":"Config","current-context":"a","contexts":[{"name":"a","context":{"cluster":"a","user":"a"}}],
"clusters":[{"name":"a","cluster":{"server":"https://127.0.0.1:1"}}],"users":[{"name":"a","user":{}}]}`

// home is the environment of a user with a kubeconfig in the usual place, or with none.
func home(t *testing.T, kubeconfig string) []string {
	t.Helper()
	dir := t.TempDir()
	if kubeconfig != "" {
		if err := os.Mkdir(filepath.Join(dir, ".kube"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".kube", "config"), []byte(kubeconfig), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"HOME=" + dir, "XDG_CACHE_HOME=" + cache, "GOMODCACHE=" + clitest.GoEnv(t, "GOMODCACHE"), "GOCACHE=" + clitest.GoEnv(t, "GOCACHE")}
}

// TestRunLocal runs the golden operator on an embedded control plane: the sample gets its pods, a
// change of the controller is seen, and an interrupt leaves nothing.
func TestRunLocal(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	webhookPort := clitest.SetFreeWebhookPort(t, dir)

	t.Run("samples and watch", func(t *testing.T) {
		p := clitest.StartProcess(t, dir, nil, "run", "local", "--control-plane", "embedded", "--samples", "--watch")
		c := p.Cluster()
		p.WaitFor("applied "+memcached, 1)
		p.WaitFor("containers are simulated", 1)
		c.Eventually("True", "get", memcached, "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`)
		pod := c.Must("", "get", "pods", "-o", "jsonpath={.items[*].metadata.name}")
		c.Eventually(fmt.Sprintf("[%q]", pod), "get", memcached, "-o", "jsonpath={.status.nodes}")
		if names := clitest.ProcessesOf(p.TempDir); runtime.GOOS == "linux" && len(names) != 5 {
			t.Errorf("it should be four servers and the manager that run: %v", names)
		}
		checkAddresses(t, p, webhookPort)

		// What does not build leaves the manager running.
		clitest.EditFile(t, dir, "cmd/main.go", "\nfunc main() {", "\nfunc main() { broken")
		p.WaitFor("still running the previous build; waiting for changes", 1)
		c.Must("", "patch", memcached, "--type=merge", "-p", `{"spec":{"size":2}}`)
		c.Eventually("2", "get", memcached, "-o", "jsonpath={.status.replicas}")
		clitest.EditFile(t, dir, "cmd/main.go", "\nfunc main() { broken", "\nfunc main() {")
		p.WaitFor("starting the manager", 2)
		clitest.EditFile(t, dir, "cmd/main.go", `"Starting the manager"`, `"Starting the changed manager"`)
		p.WaitFor("Starting the changed manager", 1)
		clitest.EditFile(t, dir, "cmd/main.go", `"Starting the changed manager"`, `"Starting the manager"`)
		p.WaitFor("starting the manager", 4)
		p.WaitFor("built in ", 3)
		clitest.EditFile(t, dir, "cmd/main.go", "\nfunc main() {", "\nvar unknown = missing\n\nfunc main() {")
		p.WaitFor("build failed; still running the previous build; waiting for changes", 1)

		p.Interrupt()
		p.MustEnd(0)
		if !strings.HasSuffix(p.Output(), "\nstopped\n") {
			t.Error("it does not end with \"stopped\"")
		}
		clitest.EditFile(t, dir, "cmd/main.go", "\nvar unknown = missing\n", "")
		if strings.Contains(p.Output(), "was killed") {
			t.Error("the manager was killed, and not asked to stop")
		}
	})

	t.Run("interrupted while it starts", func(t *testing.T) {
		for _, when := range []string{"starting a control plane", "installing the CRDs"} {
			p := clitest.StartProcess(t, dir, nil, "run", "local", "--control-plane", "embedded")
			p.WaitFor(when, 1)
			p.Interrupt()
			code, out := p.End(), p.Output()
			if strings.Contains(out, "starting the manager") { // on a busy machine, the interrupt can come later
				if code != 0 || !strings.HasSuffix(out, "\nstopped\n") {
					t.Errorf("after %q, exit code %d\n%s", when, code, out)
				}
			} else if code != 1 || !strings.Contains(out, "error: interrupted") || strings.Contains(out, "manager | ") {
				t.Errorf("after %q, exit code %d\n%s", when, code, out)
			}
		}
	})

	t.Run("killed", func(t *testing.T) {
		// A sample that is refused doesn't end the run.
		const sample = "config/samples/cache_v1alpha1_memcached.yaml"
		clitest.EditFile(t, dir, sample, "size: 1", "size: -1")
		p := clitest.StartProcess(t, dir, nil, "run", "local", "--control-plane", "embedded", "--samples", "--namespace", "team")
		p.WaitFor("press Ctrl-C", 1)
		if want := "error: " + sample + ":10:3: applying " + memcached + ": "; !strings.Contains(p.Output(), want) {
			t.Errorf("the output lacks %q", want)
		}
		clitest.EditFile(t, dir, sample, "size: -1", "size: 1")
		p.WaitFor("applied "+memcached, 1)
		p.Cluster().Must("", "get", "--namespace", "team", memcached)
		second := clitest.StartProcess(t, dir, nil, "run", "local", "--control-plane", "embedded")
		second.MustEnd(1)
		if want := fmt.Sprintf("error: process %d already runs the project in ", p.Cmd.Process.Pid); !strings.Contains(second.Output(), want) {
			t.Errorf("a second run does not print %q:\n%s", want, second.Output())
		}
		if err := p.Cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-p.Done
		clitest.CheckNoProcesses(t, p.TempDir, 30*time.Second)
		if left, err := filepath.Glob(filepath.Join(p.TempDir, "operon-*")); err != nil || len(left) == 0 {
			t.Fatalf("a killed run leaves its directories: %v (%v)", left, err)
		}
		p = clitest.StartProcess(t, dir, []string{"TMPDIR=" + p.TempDir}, "tool", "kubectl", "get", "pods")
		p.MustEnd(1)
		if want := "error: no control plane runs for this project: the last run was killed: "; !strings.HasPrefix(p.Output(), want) {
			t.Errorf("it does not print %q", want)
		}
	})

	t.Run("crash at start", func(t *testing.T) {
		clitest.EditFile(t, dir, "cmd/main.go", "\tflag.Parse()\n", "\tflag.Parse()\n\tprintln(\"no luck today\")\n\tos.Exit(7)\n")
		// The user's own kubeconfig is passed over, as its cluster does not answer.
		p := clitest.StartProcess(t, dir, home(t, unreachable), "run", "local")
		p.MustEnd(1)
		if !strings.Contains(p.Output(), "~/.kube/config is not used: the cluster at https://127.0.0.1:1 cannot be reached") {
			t.Error("the output does not state why it uses an embedded control plane")
		}
		for _, want := range []string{"error: the manager failed: exit status 7", "  no luck today"} {
			if !strings.Contains(p.Output(), want) {
				t.Errorf("the output does not contain %q", want)
			}
		}
		if n := strings.Count(p.Output(), "manager | no luck today"); n != 1 {
			t.Errorf("the manager was started %d times", n)
		}

		// With --watch, it is a change that starts it again, and nothing else.
		p = clitest.StartProcess(t, dir, nil, "run", "local", "--control-plane", "embedded", "--watch")
		p.WaitFor("waiting for changes", 1)
		p.WaitFor("press Ctrl-C", 1)
		clitest.EditFile(t, dir, "cmd/main.go", "os.Exit(7)", "os.Exit(8)")
		p.WaitFor("error: the manager failed: exit status 8", 1)
		if n := strings.Count(p.Output(), "manager | no luck today"); n != 2 {
			t.Errorf("the manager was started %d times", n)
		}
		clitest.EditFile(t, dir, "cmd/main.go", "os.Exit(8)", "os.Exit(7)")
		p.Interrupt()
		p.MustEnd(0)
	})

	t.Run("stubborn manager", func(t *testing.T) {
		clitest.EditFile(t, dir, "cmd/main.go", "\tos.Exit(7)\n", "\tsignal.Ignore(os.Interrupt)\n\ttime.Sleep(time.Hour)\n")
		clitest.EditFile(t, dir, "cmd/main.go", "import (\n", "import (\n\t\"os/signal\"\n\t\"time\"\n")
		p := clitest.StartProcess(t, dir, nil, "run", "local", "--control-plane", "embedded", "--webhooks=false")
		p.WaitFor("no luck today", 1)
		p.WaitFor("press Ctrl-C", 1)
		start := time.Now()
		for p.Cmd.Process.Signal(syscall.SIGINT) == nil {
			time.Sleep(300 * time.Millisecond)
		}
		p.MustEnd(0)
		if took := time.Since(start); took > 14*time.Second { // the grace is 15
			t.Errorf("a second interrupt took %s", took)
		}
	})
}

// TestRunLocalRefused checks that what cannot work ends with a cause and leaves nothing.
func TestRunLocalRefused(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	c := clitest.StartCluster(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and does not answer
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	for name, text := range map[string]string{
		"broken":      "clusters: {",
		"empty":       "",
		"unreachable": unreachable,
		"contextless": strings.Replace(unreachable, `"current-context":"a",`, "", 1),
		"silent":      strings.Replace(unreachable, "127.0.0.1:1", silent.Addr().String(), 1),
		"stranger":    strings.Replace(clitest.ReadFile(t, c.KubeconfigPath()), c.Token, "expired", 1),
	} {
		clitest.WriteFile(t, filepath.Join(dir, name), text)
	}
	// A run would update these first.
	addField(t, dir)
	before := clitest.CopyTree(t, dir)
	for _, tc := range []struct {
		name, want string
		env, args  []string
	}{
		{"broken", "reading the kubeconfig", nil, []string{"--kubeconfig", "broken"}},
		{"broken in KUBECONFIG", "reading the kubeconfig", []string{"KUBECONFIG=" + filepath.Join(dir, "broken")}, nil},
		{"empty", "there is no kubeconfig", nil, []string{"--kubeconfig", "empty"}},
		{"missing", "no such file", nil, []string{"--kubeconfig", "missing"}},
		{"without a context", "current-context is required", nil, []string{"--kubeconfig", "contextless"}},
		{"unreachable", "cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused", nil, []string{"--kubeconfig", "unreachable"}},
		{"none", "there is no kubeconfig", home(t, ""), []string{"--control-plane", "kubeconfig"}},
		{"no answer", "cannot be reached: ", nil, []string{"--kubeconfig", "silent"}},
		{"unknown user", "rejects this user: Unauthorized; log in again", nil, []string{"--kubeconfig", "stranger"}},
		{"without rights", "to patch customresourcedefinitions.apiextensions.k8s.io is forbidden", nil, []string{"--kubeconfig", c.KubeconfigAs("default:nobody")}},
		{"namespace", `no such namespace`, nil, []string{"--kubeconfig", c.KubeconfigPath(), "--namespace", "elsewhere"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := clitest.StartProcess(t, dir, tc.env, append([]string{"run", "local"}, tc.args...)...)
			p.MustEnd(1)
			if !strings.Contains(p.Output(), tc.want) {
				t.Errorf("the output does not contain %q", tc.want)
			}
			if given := strings.Join(append(tc.env, tc.args...), " "); strings.Contains(p.Output(), dir) && !strings.Contains(given, dir) {
				t.Error("the output has an absolute path that was not given")
			}
			clitest.CompareTrees(t, before, dir)
		})
	}
	t.Run("CRD", func(t *testing.T) {
		// It is written by hand: generate refuses one of Go types that an API server refuses. That of the project is installed before it.
		const last = "config/crd/bases/cache.example.com_zebras.yaml"
		clitest.WriteFile(t, filepath.Join(dir, last), strings.NewReplacer("memcached", "zebra", "Memcached", "Zebra",
			"size(self.metadata.name) <= 63", "self.nothing > 1").Replace(clitest.ReadFile(t, filepath.Join(dir, crdFile))))
		clitest.EditFile(t, dir, "config/crd/kustomization.yaml", "resources:\n", "resources:\n- bases/"+filepath.Base(last)+"\n")
		p := clitest.StartProcess(t, dir, nil, "run", "local", "--kubeconfig", c.KubeconfigPath())
		p.MustEnd(1)
		for _, want := range []string{"installing the CRD zebras.cache.example.com", "undefined field 'nothing'"} {
			if !strings.Contains(p.Output(), want) {
				t.Errorf("the output does not contain %q", want)
			}
		}
		if crds := c.Must("", "get", "crds", "-o", "name"); strings.Contains(crds, "example.com") {
			t.Errorf("left in the cluster: %s", crds)
		}
	})
}

// TestRunLocalWebhooks serves the project's webhooks to the API server of a kubeconfig and to an embedded one.
func TestRunLocalWebhooks(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	port := clitest.SetFreeWebhookPort(t, dir)
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		t.Fatal(err)
	}
	embedded := []string{"run", "local", "--control-plane", "embedded", "--samples"}

	t.Run("port in use", func(t *testing.T) {
		want := fmt.Sprintf("port %d of the manager's webhooks is in use", port)
		p := clitest.StartProcess(t, dir, nil, embedded...)
		p.MustEnd(1)
		if !strings.Contains(p.Output(), want) {
			t.Errorf("the output does not contain %q", want)
		}
		if strings.Contains(p.Output(), "starting a control plane") {
			t.Error("it starts a control plane for nothing")
		}
	})
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	const memory = "jsonpath={.spec.memoryMegabytes}"
	// A terminal that hangs up, or a closed pipe, ends a run as an interrupt does.
	hangUp := func(p *clitest.Process, s syscall.Signal) {
		p.WaitFor("press Ctrl-C", 1)
		if signal.Ignored(s) {
			s = syscall.SIGINT // the test itself runs with SIGHUP ignored, as with nohup
		}
		if err := p.Cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		p.MustEnd(0)
	}
	t.Run("embedded", func(t *testing.T) {
		p := clitest.StartProcess(t, dir, nil, embedded...)
		p.WaitFor("applied "+memcached, 1)
		p.Cluster().Eventually("64", "get", memcached, "-o", memory)
		hangUp(p, syscall.SIGHUP)
	})
	t.Run("old layout", func(t *testing.T) {
		old := clitest.CopyTree(t, dir)
		oldLayout(t, old)
		p := clitest.StartProcess(t, old, nil, embedded...)
		p.WaitFor("applied "+memcached, 1)
		p.Cluster().Eventually("64", "get", memcached, "-o", memory)
		hangUp(p, syscall.SIGPIPE)
	})
	t.Run("kubeconfig", func(t *testing.T) {
		c := clitest.StartCluster(t)
		p := clitest.StartProcess(t, dir, []string{"KUBECONFIG=" + c.KubeconfigPath()}, "run", "local", "--samples", "--webhooks")
		p.WaitFor("applied "+memcached, 1)
		c.Eventually("64", "get", memcached, "-o", memory)
		p.Interrupt()
		p.MustEnd(0)
		if left := c.Must("", "get", "mutatingwebhookconfigurations,validatingwebhookconfigurations", "-o", "name"); left != "" {
			t.Errorf("left in the cluster: %s", left)
		}
		c.Must("", "delete", memcached, "--wait=false")

		// What a killed run leaves in the cluster goes with the next one, though that has no webhooks.
		p = clitest.StartProcess(t, dir, nil, "run", "local", "--webhooks", "--kubeconfig", c.KubeconfigPath())
		p.WaitFor("press Ctrl-C", 1)
		if err := p.Cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-p.Done
		clitest.CheckNoProcesses(t, p.TempDir, 30*time.Second)
		if left := c.Must("", "get", "mutatingwebhookconfigurations", "-o", "yaml"); !strings.Contains(left, "mmemcached-v1alpha1.kb.io") || strings.Contains(left, "probe") {
			t.Errorf("the webhook, and nothing else, should be registered: %s", left)
		}
		p = clitest.StartProcess(t, dir, nil, "run", "local", "--samples", "--kubeconfig", c.KubeconfigPath())
		p.WaitFor("webhooks are left out", 1)
		p.WaitFor("applied "+memcached, 1)
		p.WaitFor("press Ctrl-C", 1)
		p.Interrupt()
		p.MustEnd(0)
		if left := c.Must("", "get", "mutatingwebhookconfigurations", "-o", "name"); left != "" {
			t.Errorf("left in the cluster: %s", left)
		}
	})
}

// oldLayout makes of a project one as older peers wrote them: the manager at the root, and without a
// flag for the webhooks' certificate.
func oldLayout(t *testing.T, dir string) {
	t.Helper()
	if err := os.Rename(filepath.Join(dir, "cmd", "main.go"), filepath.Join(dir, "main.go")); err != nil {
		t.Fatal(err)
	}
	clitest.EditFile(t, dir, "PROJECT", "go.kubebuilder.io/v4", "go.kubebuilder.io/v3")
	clitest.EditFile(t, dir, "main.go", "\ts.webhookCert.bind(", "\t(&servingCert{}).bind(flag.NewFlagSet(\"unused\", flag.ContinueOnError), ")
	clitest.EditFile(t, dir, "main.go", ", flag.ContinueOnError), flags, ", ", flag.ContinueOnError), ")
}

// TestGenerateWatch checks that generate --watch follows changes until it is interrupted.
func TestGenerateWatch(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	p := clitest.StartProcess(t, dir, nil, "generate", "--watch")
	p.WaitFor("waiting for changes", 1)
	const types, crd = "api/v1alpha1/memcached_types.go", "config/crd/bases/cache.example.com_memcacheds.yaml"
	clitest.EditFile(t, dir, types, "type MemcachedSpec struct {", "type MemcachedSpec struct {\n\t// color of it\n\tColor string `json:\"color,omitempty\"`\n")
	p.WaitFor("updated  "+crd, 1)
	clitest.EditFile(t, dir, types, "\tColor string", "\tColor strin")
	p.WaitFor("error: ", 1)
	clitest.EditFile(t, dir, types, "\tColor strin", "\tColor int")
	p.WaitFor("updated  "+crd, 2)
	p.Interrupt()
	p.MustEnd(0)
}

// TestGenerateWatchHelm checks that generate --watch follows changes of charts and of watches.yaml.
func TestGenerateWatchHelm(t *testing.T) {
	t.Parallel()
	program, err := clitest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	dir := clitest.CopyGolden(t, "shop-operator")
	p := clitest.StartProcess(t, dir, []string{clitest.RuntimeVariable + "=" + program}, "generate", "--watch")
	p.WaitFor("waiting for changes", 1)
	const role = "updated  config/rbac/role.yaml"
	template := filepath.Join(dir, "helm-charts", "shop", "templates", "added.yaml")
	clitest.WriteFile(t, template, "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata:\n  name: {{ .Release.Name }}\nhandler: runc\n")
	p.WaitFor(role, 1)
	clitest.EditFile(t, dir, "watches.yaml", "chart: helm-charts/shop", "chart: helm-charts/gone")
	p.WaitFor("the directory contains no Chart.yaml", 1)
	clitest.EditFile(t, dir, "watches.yaml", "chart: helm-charts/gone", "chart: helm-charts/shop")
	if err := os.Remove(template); err != nil {
		t.Fatal(err)
	}
	p.WaitFor(role, 2)
	p.Interrupt()
	p.MustEnd(0)
}
