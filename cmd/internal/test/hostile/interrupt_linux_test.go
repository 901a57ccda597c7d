package hostile

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestInterrupt sends SIGINT and SIGTERM to commands that wait for a machine that never answers: registries, repositories of charts,
// remote resources of kustomizations, clusters, and the module proxy that the go command asks. Each ends at once, with exit code 1.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it starts many processes")
	runtime, err := clitest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for name, test := range map[string]struct {
			args string
			// prepare writes what the command needs.
			prepare func(t *testing.T, dir, host string)
			environ []string
		}{
			"image save":       {args: "image save --insecure-registry HOST HOST/a/b:v1 --oci-layout out"},
			"bundle validate":  {args: "bundle validate --insecure-registry HOST HOST/a/b:v1"},
			"generate catalog": {args: "generate catalog --insecure-registry HOST --bundle HOST/a/b:v1"},
			"scorecard":        {args: "scorecard --insecure-registry HOST HOST/a/b:v1"},
			"olm status":       {args: "olm status --kubeconfig kubeconfig", prepare: writeKubeconfig},
			"olm install":      {args: "olm install --kubeconfig kubeconfig", prepare: writeKubeconfig},
			"cleanup":          {args: "cleanup memcached-operator --kubeconfig kubeconfig", prepare: writeKubeconfig},
			"chart":            {args: "create api --group cache --version v1 --kind Second --helm-chart a --helm-chart-repo https://HOST"},
			"kustomize":        {args: "tool kustomize build config/default", prepare: addRemoteResource},
			"bundle":           {args: "bundle --allow-remote-resources", prepare: addRemoteResource},
			"upgrade":          {args: "upgrade --allow-remote-resources --check", prepare: addUpgrade},
			"modules": {
				args:    "create api --group apps --version v1 --kind Thing --resource=false --controller --external-api-path example.invalid/x/api/v1 --external-api-domain example.com --external-api-module example.invalid/x@v1.0.0",
				environ: []string{"GOPROXY=http://HOST", "GONOSUMDB=*", "GOFLAGS=-mod=mod"},
			},
		} {
			t.Run(fmt.Sprintf("%s/%s", signal, name), func(t *testing.T) {
				t.Parallel()
				host, connected := silentServer(t)
				dir := clitest.CopyGolden(t, "memcached-operator")
				if test.prepare != nil {
					test.prepare(t, dir, host)
				}
				environ := []string{clitest.RuntimeVariable + "=" + runtime, "HTTPS_PROXY=", "HTTP_PROXY=", "KUBECONFIG="}
				for _, variable := range test.environ {
					environ = append(environ, strings.ReplaceAll(variable, "HOST", host))
				}
				p := clitest.StartProcess(t, dir, environ, strings.Fields(strings.ReplaceAll(test.args, "HOST", host))...)
				select {
				case <-connected:
				case <-p.Done:
					t.Fatalf("it ended before it connected:\n%s", p.Output())
				case <-time.After(5 * time.Minute):
					t.Fatalf("it does not connect:\n%s", p.Output())
				}
				if err := p.Cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				p.MustEnd(1)
				if took := time.Since(start); took > 10*time.Second {
					t.Errorf("it ended after %s", took)
				}
				if !strings.HasSuffix(p.Output(), "error: interrupted\n") {
					t.Errorf("it printed\n%s", p.Output())
				}
			})
		}
	}
}

// silentServer returns the address of a server that never answers, and a channel that is closed when a client has sent something.
func silentServer(t *testing.T) (host string, connected <-chan struct{}) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	reached := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = connection.Close() })
			go func(first bool) {
				_, _ = connection.Read(make([]byte, 1))
				if first {
					close(reached)
				}
				_, _ = io.Copy(io.Discard, connection)
			}(first)
		}
	}()
	return listener.Addr().String(), reached
}

func writeKubeconfig(t *testing.T, dir, host string) {
	t.Helper()
	clitest.WriteFile(t, filepath.Join(dir, "kubeconfig"), "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"+
		"clusters: [{name: a, cluster: {server: 'http://"+host+"'}}]\nusers: [{name: a, user: {token: a}}]\n")
}

func addRemoteResource(t *testing.T, dir, host string) {
	t.Helper()
	clitest.EditFile(t, dir, "config/default/kustomization.yaml", "resources:\n", "resources:\n- https://"+host+"/a.yaml\n")
}

// addUpgrade also adds something to upgrade.
func addUpgrade(t *testing.T, dir, host string) {
	t.Helper()
	addRemoteResource(t, dir, host)
	clitest.EditFile(t, dir, "go.mod", "sigs.k8s.io/controller-runtime v0.25.2", "sigs.k8s.io/controller-runtime v0.25.1")
}
