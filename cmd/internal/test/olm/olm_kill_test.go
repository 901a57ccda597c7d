//go:build unix

package olm

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// killedAt runs a command as a process and kills it when it sends a request, which the cluster never gets.
func (c *olmCluster) killedAt(t *testing.T, method, path string, args ...string) {
	t.Helper()
	server, err := url.Parse(c.Plane.URL)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.Plane.CAData)
	proxy := httputil.NewSingleHostReverseProxy(server)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	proxy.Transport = transport
	defer transport.CloseIdleConnections()
	reached, over := make(chan struct{}), make(chan struct{})
	var once sync.Once
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method && r.URL.Path == path && !r.URL.Query().Has("dryRun") {
			once.Do(func() { close(reached) })
			<-over
			return
		}
		r.Header.Set("Authorization", "Bearer "+c.Plane.Token) // clients send none without TLS
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	defer close(over)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
clusters: [{name: c, cluster: {server: %q}}], users: [{name: u, user: {}}]}`, front.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := exec.Command(os.Args[0], append([]string{"olm"}, args...)...)
	p.Dir = c.dir
	p.Env = append(os.Environ(), clitest.KillVariable+"=0", "KUBECONFIG="+kubeconfig)
	var out clitest.Buffer
	p.Stdout, p.Stderr = &out, &out
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	select {
	case <-reached:
	case <-time.After(time.Minute):
		t.Errorf("it never asks for %s %s\n%s", method, path, out.String())
	case err := <-ended:
		t.Fatalf("it ended (%v) before it asked for %s %s\n%s", err, method, path, out.String())
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
}
