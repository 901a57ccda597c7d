//go:build unix

package olm

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// inPod runs commands as a pod of the cluster does: with the files of a service account and without a kubeconfig.
func (c *olmCluster) inPod(t *testing.T) {
	c.Apply(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: pod, namespace: default}}`)
	var request struct{ Status struct{ Token string } }
	c.Try(t, func() error {
		body := map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": map[string]any{}}
		return c.Client.Do(context.Background(), http.MethodPost, "/api/v1/namespaces/default/serviceaccounts/pod/token", "", body, &request)
	})
	dir, home := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "token"), request.Status.Token)
	write(filepath.Join(dir, "ca.crt"), string(c.Plane.CAData))
	write(filepath.Join(dir, "namespace"), "team\n")
	server, err := url.Parse(c.Plane.URL)
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(server.Host)
	if err != nil {
		t.Fatal(err)
	}
	inside := []string{"HOME=" + home, "KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port}
	operon := func(dir string, environ []string, args ...string) (int, string) {
		var out bytes.Buffer
		env := &cmd.Env{In: strings.NewReader(""), Out: &out, Err: &out, Dir: c.dir, FS: afero.NewOsFs(), Now: time.Now, HTTP: c.http, Environ: environ, PodDir: dir}
		code := cmd.Main(c.Context(), env, append([]string{"operon"}, args...))
		return code, out.String()
	}
	for _, row := range []struct {
		name    string
		dir     string
		environ []string
		args    []string
		want    []string
	}{
		{"the service account", dir, inside, []string{"olm", "status"},
			[]string{"using the cluster of this pod at " + c.Plane.URL + " (Kubernetes v", `forbidden: User "system:serviceaccount:default:pod" cannot list`}},
		{"its namespace", dir, inside, []string{"cleanup", "none"}, []string{`cannot list`, `in the namespace "team"`}},
		{"another namespace", dir, append([]string{"POD_NAMESPACE=other"}, inside...), []string{"cleanup", "none"}, []string{`in the namespace "other"`}},
		{"a kubeconfig wins", dir, append([]string{"KUBECONFIG=" + c.Plane.KubeconfigPath()}, inside...), []string{"olm", "status"}, []string{"using the cluster of context", "OLM is not installed"}},
		{"no pod", dir, inside[:1], []string{"olm", "status"}, []string{"there is no kubeconfig: pass --kubeconfig, or set KUBECONFIG"}},
		{"a pod without a token", home, inside, []string{"olm", "status"}, []string{"there is no kubeconfig: pass --kubeconfig, or set KUBECONFIG"}},
	} {
		code, text := operon(row.dir, row.environ, row.args...)
		if code != 1 {
			t.Errorf("%s: exit code %d", row.name, code)
		}
		clitest.CheckContains(t, text, row.want...)
		if strings.Contains(text, dir) {
			t.Errorf("%s: the output contains a local path:\n%s", row.name, text)
		}
	}
	write(filepath.Join(dir, "token"), "expired")
	_, text := operon(dir, inside, "olm", "status")
	clitest.CheckContains(t, text, "rejects this user: Unauthorized", "\n  this pod's service account was used, since there is no kubeconfig; --kubeconfig selects another cluster")
	// A home's kubeconfig goes first.
	if err := os.MkdirAll(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(home, ".kube", "config"), string(c.Plane.Kubeconfig()))
	_, text = operon(dir, inside, "olm", "status")
	clitest.CheckContains(t, text, "using the cluster of context", "OLM is not installed")
	c.Delete(t, "v1", "ServiceAccount", "default", "pod")
}
