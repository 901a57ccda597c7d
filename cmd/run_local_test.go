//go:build unix

package cmd_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// localProcess is operon run local as a process of its own.
type localProcess struct {
	t    *testing.T
	c    *exec.Cmd
	done chan struct{}
	// tmp is where it keeps its files.
	tmp string

	mu  sync.Mutex
	out bytes.Buffer
}

func (p *localProcess) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *localProcess) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// startLocal runs the test binary as operon.
func startLocal(t *testing.T, dir string, env []string, args ...string) *localProcess {
	t.Helper()
	if _, err := localAssets(); err != nil {
		t.Fatal(err)
	}
	p := &localProcess{t: t, tmp: t.TempDir(), done: make(chan struct{})}
	p.c = exec.Command(os.Args[0], args...)
	p.c.Dir = dir
	p.c.Env = append(append(os.Environ(), killVariable+"=0", "TMPDIR="+p.tmp, "KUBECONFIG=", "HOME="+os.Getenv("HOME")), env...)
	for _, entry := range env {
		if tmp, ok := strings.CutPrefix(entry, "TMPDIR="); ok {
			p.tmp = tmp
		}
	}
	p.c.Stdout, p.c.Stderr = p, p
	p.c.WaitDelay = 10 * time.Second
	if err := p.c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.c.Wait() // its exit code tells
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.c.Process.Kill() // it has ended unless the test failed
		<-p.done
		if t.Failed() {
			t.Logf("operon %s:\n%s", strings.Join(args, " "), p.output())
		}
	})
	return p
}

func (p *localProcess) interrupt() {
	p.t.Helper()
	if err := p.c.Process.Signal(os.Interrupt); err != nil {
		p.t.Fatal(err)
	}
}

// waitFor waits until the output has a text n times.
func (p *localProcess) waitFor(text string, n int) {
	p.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if strings.Count(p.output(), text) >= n {
			return
		}
		select {
		case <-p.done:
			if strings.Count(p.output(), text) < n {
				p.t.Fatalf("it ended before it said %q", text)
			}
			return
		default:
		}
	}
	p.t.Fatalf("it never said %q %d times", text, n)
}

// ends waits for the end and holds that it is as it should be: the exit code, no process, no file.
func (p *localProcess) ends(code int) {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(2 * time.Minute):
		p.t.Fatal("it does not end")
	}
	if got := p.c.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit code %d, want %d", got, code)
	}
	nothingRuns(p.t, p.tmp, 5*time.Second)
	p.leavesNothing()
}

// leavesNothing holds that neither Operon nor go have left files.
func (p *localProcess) leavesNothing() {
	p.t.Helper()
	for _, pattern := range []string{"operon-*", "go-*"} {
		left, err := filepath.Glob(filepath.Join(p.tmp, pattern))
		if err != nil || len(left) > 0 {
			p.t.Errorf("left: %v (%v)", left, err)
		}
	}
}

// cluster is the control plane that the process says it has.
func (p *localProcess) cluster() *cluster {
	p.t.Helper()
	p.waitFor("KUBECONFIG=", 1)
	m := regexp.MustCompile(`KUBECONFIG=(\S+) kubectl`).FindStringSubmatch(p.output())
	if m == nil {
		p.t.Fatal("it does not say how to call kubectl")
	}
	assets, err := controlPlaneAssets()
	if err != nil {
		p.t.Fatal(err)
	}
	return &cluster{t: p.t, assets: assets, kubeconfig: m[1]}
}

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
	return []string{"HOME=" + dir, "XDG_CACHE_HOME=" + cache, "GOMODCACHE=" + goEnv(t, "GOMODCACHE"), "GOCACHE=" + goEnv(t, "GOCACHE")}
}

// TestRunLocal runs the golden operator on an embedded control plane: the sample gets its pods, a
// change of the controller is seen, and an interrupt leaves nothing.
func TestRunLocal(t *testing.T) {
	t.Parallel()
	dir := golden(t, "memcached-operator")
	freeWebhookPort(t, dir)

	t.Run("samples and watch", func(t *testing.T) {
		p := startLocal(t, dir, nil, "run", "local", "--control-plane", "embedded", "--samples", "--watch")
		c := p.cluster()
		p.waitFor("applied "+memcached, 1)
		p.waitFor("containers are simulated", 1)
		c.eventually("True", "get", memcached, "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`)
		pod := c.must("", "get", "pods", "-o", "jsonpath={.items[*].metadata.name}")
		c.eventually(fmt.Sprintf("[%q]", pod), "get", memcached, "-o", "jsonpath={.status.nodes}")
		if names := processesOf(p.tmp); runtime.GOOS == "linux" && len(names) != 5 {
			t.Errorf("it should be four servers and the manager that run: %v", names)
		}

		// What does not build leaves the manager running.
		edit(t, dir, "cmd/main.go", "\nfunc main() {", "\nfunc main() { broken")
		p.waitFor("the manager does not build", 1)
		p.waitFor("waiting for a change", 1)
		c.must("", "patch", memcached, "--type=merge", "-p", `{"spec":{"size":2}}`)
		c.eventually("2", "get", memcached, "-o", "jsonpath={.status.replicas}")
		edit(t, dir, "cmd/main.go", "\nfunc main() { broken", "\nfunc main() {")
		p.waitFor("starting the manager", 2)
		edit(t, dir, "cmd/main.go", `"Starting the manager"`, `"Starting the changed manager"`)
		p.waitFor("Starting the changed manager", 1)
		edit(t, dir, "cmd/main.go", `"Starting the changed manager"`, `"Starting the manager"`)
		p.waitFor("starting the manager", 4)

		p.interrupt()
		p.ends(0)
		if strings.Contains(p.output(), "was killed") {
			t.Error("the manager was killed, and not asked to stop")
		}
	})

	t.Run("interrupted while it starts", func(t *testing.T) {
		for _, when := range []string{"starting a control plane", "KUBECONFIG="} {
			p := startLocal(t, dir, nil, "run", "local", "--control-plane", "embedded")
			p.waitFor(when, 1)
			p.interrupt()
			p.ends(1)
			if !strings.Contains(p.output(), "error: interrupted") || strings.Contains(p.output(), "manager | ") {
				t.Errorf("after %q, it says\n%s", when, p.output())
			}
		}
	})

	t.Run("killed", func(t *testing.T) {
		p := startLocal(t, dir, nil, "run", "local", "--control-plane", "embedded", "--samples", "--namespace", "team")
		p.waitFor("press Ctrl-C", 1)
		p.cluster().must("", "get", "--namespace", "team", memcached)
		if err := p.c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-p.done
		nothingRuns(t, p.tmp, 20*time.Second)
	})

	t.Run("crash at start", func(t *testing.T) {
		edit(t, dir, "cmd/main.go", "\tflag.Parse()\n", "\tflag.Parse()\n\tprintln(\"no luck today\")\n\tos.Exit(7)\n")
		// The user's own kubeconfig is passed over, as its cluster does not answer.
		p := startLocal(t, dir, home(t, unreachable), "run", "local")
		p.ends(1)
		if !strings.Contains(p.output(), "~/.kube/config is not used: the cluster at https://127.0.0.1:1 cannot be reached") {
			t.Error("it does not say why it uses an embedded control plane")
		}
		for _, want := range []string{"error: the manager failed: exit status 7", "  no luck today"} {
			if !strings.Contains(p.output(), want) {
				t.Errorf("it does not say %q", want)
			}
		}
		if n := strings.Count(p.output(), "manager | no luck today"); n != 1 {
			t.Errorf("the manager was started %d times", n)
		}

		// With --watch, it is a change that starts it again, and nothing else.
		p = startLocal(t, dir, nil, "run", "local", "--control-plane", "embedded", "--watch")
		p.waitFor("waiting for a change", 1)
		p.waitFor("press Ctrl-C", 1)
		edit(t, dir, "cmd/main.go", "os.Exit(7)", "os.Exit(8)")
		p.waitFor("error: the manager failed: exit status 8", 1)
		if n := strings.Count(p.output(), "manager | no luck today"); n != 2 {
			t.Errorf("the manager was started %d times", n)
		}
		edit(t, dir, "cmd/main.go", "os.Exit(8)", "os.Exit(7)")
		p.interrupt()
		p.ends(0)
	})

	t.Run("stubborn manager", func(t *testing.T) {
		edit(t, dir, "cmd/main.go", "\tos.Exit(7)\n", "\tsignal.Ignore(os.Interrupt)\n\ttime.Sleep(time.Hour)\n")
		edit(t, dir, "cmd/main.go", "import (\n", "import (\n\t\"os/signal\"\n\t\"time\"\n")
		p := startLocal(t, dir, nil, "run", "local", "--control-plane", "embedded", "--webhooks=false")
		p.waitFor("no luck today", 1)
		p.waitFor("press Ctrl-C", 1)
		start := time.Now()
		for p.c.Process.Signal(syscall.SIGINT) == nil {
			time.Sleep(300 * time.Millisecond)
		}
		p.ends(0)
		if took := time.Since(start); took > 14*time.Second { // the grace is 15
			t.Errorf("a second interrupt took %s", took)
		}
	})
}

// TestRunLocalRefused holds that what cannot work ends with a cause and leaves nothing.
func TestRunLocalRefused(t *testing.T) {
	t.Parallel()
	dir := golden(t, "memcached-operator")
	c := startCluster(t)
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
		"stranger":    strings.Replace(read(t, c.KubeconfigPath()), c.Token, "expired", 1),
	} {
		write(t, filepath.Join(dir, name), text)
	}
	// A run would bring these up to date first.
	addField(t, dir)
	before := copyTree(t, dir)
	for _, tc := range []struct {
		name, want string
		env, args  []string
	}{
		{"broken", "reading the kubeconfig", nil, []string{"--kubeconfig", "broken"}},
		{"broken in KUBECONFIG", "reading the kubeconfig", []string{"KUBECONFIG=" + filepath.Join(dir, "broken")}, nil},
		{"empty", "there is no kubeconfig", nil, []string{"--kubeconfig", "empty"}},
		{"missing", "no such file", nil, []string{"--kubeconfig", "missing"}},
		{"without a context", "no current-context", nil, []string{"--kubeconfig", "contextless"}},
		{"unreachable", "cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused", nil, []string{"--kubeconfig", "unreachable"}},
		{"none", "there is no kubeconfig", home(t, ""), []string{"--control-plane", "kubeconfig"}},
		{"no answer", "cannot be reached: ", nil, []string{"--kubeconfig", "silent"}},
		{"unknown user", "does not know this user: Unauthorized; log in again", nil, []string{"--kubeconfig", "stranger"}},
		{"without rights", "to patch customresourcedefinitions.apiextensions.k8s.io is forbidden", nil, []string{"--kubeconfig", c.kubeconfigAs("default:nobody")}},
		{"namespace", `no such namespace`, nil, []string{"--kubeconfig", c.KubeconfigPath(), "--namespace", "elsewhere"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := startLocal(t, dir, tc.env, append([]string{"run", "local"}, tc.args...)...)
			p.ends(1)
			if !strings.Contains(p.output(), tc.want) {
				t.Errorf("it does not say %q", tc.want)
			}
			if strings.Contains(p.output(), dir) {
				t.Error("it names the folder of the machine")
			}
			compareTrees(t, before, dir)
		})
	}
	t.Run("CRD", func(t *testing.T) {
		const first = "config/crd/bases/cache.example.com_first.yaml"
		write(t, filepath.Join(dir, first), strings.ReplaceAll(strings.ReplaceAll(read(t, filepath.Join(dir, crdFile)),
			"memcached", "first"), "Memcached", "First"))
		edit(t, dir, "config/crd/kustomization.yaml", "resources:\n", "resources:\n- bases/"+filepath.Base(first)+"\n")
		types := "api/v1alpha1/memcached_types.go"
		edit(t, dir, types, "type MemcachedSpec struct {", "// +kubebuilder:validation:XValidation:rule=\"self.nothing > 1\"\ntype MemcachedSpec struct {")
		p := startLocal(t, dir, nil, "run", "local", "--kubeconfig", c.KubeconfigPath())
		p.ends(1)
		for _, want := range []string{"installing the CRD memcacheds.cache.example.com", "undefined field 'nothing'"} {
			if !strings.Contains(p.output(), want) {
				t.Errorf("it does not say %q", want)
			}
		}
		if crds := c.must("", "get", "crds", "-o", "name"); strings.Contains(crds, "example.com") {
			t.Errorf("left in the cluster: %s", crds)
		}
	})
}

// TestRunLocalWebhooks serves the project's webhooks to the API server of a kubeconfig and to an embedded one.
func TestRunLocalWebhooks(t *testing.T) {
	t.Parallel()
	dir := golden(t, "memcached-operator")
	port := freeWebhookPort(t, dir)
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		t.Fatal(err)
	}
	embedded := []string{"run", "local", "--control-plane", "embedded", "--samples"}

	t.Run("port in use", func(t *testing.T) {
		want := fmt.Sprintf("port %d, where the manager serves its webhooks, is in use", port)
		p := startLocal(t, dir, nil, embedded...)
		p.ends(1)
		if !strings.Contains(p.output(), want) {
			t.Errorf("it does not say %q", want)
		}
		if strings.Contains(p.output(), "starting a control plane") {
			t.Error("it starts a control plane for nothing")
		}
	})
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	const memory = "jsonpath={.spec.memoryMegabytes}"
	t.Run("embedded", func(t *testing.T) {
		p := startLocal(t, dir, nil, embedded...)
		p.waitFor("applied "+memcached, 1)
		p.cluster().eventually("64", "get", memcached, "-o", memory)
		p.interrupt()
		p.ends(0)
	})
	t.Run("old layout", func(t *testing.T) {
		old := copyTree(t, dir)
		oldLayout(t, old)
		p := startLocal(t, old, nil, embedded...)
		p.waitFor("applied "+memcached, 1)
		p.cluster().eventually("64", "get", memcached, "-o", memory)
		p.interrupt()
		p.ends(0)
	})
	t.Run("kubeconfig", func(t *testing.T) {
		c := startCluster(t)
		p := startLocal(t, dir, []string{"KUBECONFIG=" + c.KubeconfigPath()}, "run", "local", "--samples", "--webhooks")
		p.waitFor("applied "+memcached, 1)
		c.eventually("64", "get", memcached, "-o", memory)
		p.interrupt()
		p.ends(0)
		if left := c.must("", "get", "mutatingwebhookconfigurations,validatingwebhookconfigurations", "-o", "name"); left != "" {
			t.Errorf("left in the cluster: %s", left)
		}
		c.must("", "delete", memcached, "--wait=false")

		// What a killed run leaves in the cluster goes with the next one, though that has no webhooks.
		p = startLocal(t, dir, nil, "run", "local", "--webhooks", "--kubeconfig", c.KubeconfigPath())
		p.waitFor("press Ctrl-C", 1)
		if err := p.c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-p.done
		nothingRuns(t, p.tmp, 20*time.Second)
		if left := c.must("", "get", "mutatingwebhookconfigurations", "-o", "yaml"); !strings.Contains(left, "mmemcached-v1alpha1.kb.io") || strings.Contains(left, "probe") {
			t.Errorf("the webhook, and nothing else, should be registered: %s", left)
		}
		p = startLocal(t, dir, nil, "run", "local", "--samples", "--kubeconfig", c.KubeconfigPath())
		p.waitFor("webhooks are left out", 1)
		p.waitFor("applied "+memcached, 1)
		p.waitFor("press Ctrl-C", 1)
		p.interrupt()
		p.ends(0)
		if left := c.must("", "get", "mutatingwebhookconfigurations", "-o", "name"); left != "" {
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
	edit(t, dir, "PROJECT", "go.kubebuilder.io/v4", "go.kubebuilder.io/v3")
	edit(t, dir, "main.go", "\ts.webhookCert.bind(", "\t(&servingCert{}).bind(flag.NewFlagSet(\"unused\", flag.ContinueOnError), ")
	edit(t, dir, "main.go", ", flag.ContinueOnError), flags, ", ", flag.ContinueOnError), ")
}

// TestGenerateWatch holds that generate --watch follows changes until it is interrupted.
func TestGenerateWatch(t *testing.T) {
	t.Parallel()
	dir := golden(t, "memcached-operator")
	p := startLocal(t, dir, nil, "generate", "--watch")
	p.waitFor("waiting for changes", 1)
	const types, crd = "api/v1alpha1/memcached_types.go", "config/crd/bases/cache.example.com_memcacheds.yaml"
	edit(t, dir, types, "type MemcachedSpec struct {", "type MemcachedSpec struct {\n\t// colour of it\n\tColour string `json:\"colour,omitempty\"`\n")
	p.waitFor("updated  "+crd, 1)
	edit(t, dir, types, "\tColour string", "\tColour strin")
	p.waitFor("error: ", 1)
	edit(t, dir, types, "\tColour strin", "\tColour int")
	p.waitFor("updated  "+crd, 2)
	p.interrupt()
	p.ends(0)
}

// edit replaces a text in a file of a project.
func edit(t *testing.T, dir, name, old, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	data, err := os.ReadFile(file)
	if err == nil && !bytes.Contains(data, []byte(old)) {
		err = errors.New("the text is not there: " + old)
	}
	if err == nil {
		err = os.WriteFile(file, bytes.Replace(data, []byte(old), []byte(text), 1), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
