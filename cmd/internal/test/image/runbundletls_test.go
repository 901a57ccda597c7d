package image

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestRunBundleTLSFlags checks that each flag of run bundle permits what it names: credentials are sent to a registry
// without TLS by --use-http and --insecure-registry alone.
func TestRunBundleTLSFlags(t *testing.T) {
	t.Parallel()
	var logins atomic.Int32
	registry := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, ok := r.BasicAuth(); ok {
			logins.Add(1)
			http.NotFound(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	plain, secure := httptest.NewServer(registry), httptest.NewUnstartedServer(registry)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes
	secure.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	const reached, refused, untrusted = "has no v1", "plain HTTP is not allowed by --skip-tls-verify; pass --use-http", "x509: "
	for _, c := range []struct {
		server *httptest.Server
		flags  string
		want   string
	}{
		{plain, "", "credentials are not sent over plain HTTP; if that is intended, allow it with --insecure-registry"},
		{plain, "--skip-tls-verify", refused},
		{plain, "--use-http", reached},
		{plain, "--skip-tls", reached},
		{plain, "--skip-tls-verify --use-http", reached},
		{plain, "--skip-tls-verify --insecure-registry HOST", reached},
		{secure, "--skip-tls-verify", reached},
		{secure, "--use-http", untrusted},
		{secure, "--insecure-registry HOST", reached},
	} {
		host := c.server.Listener.Addr().String()
		home := clitest.NewDir(t, map[string]string{".docker/config.json": fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, base64.StdEncoding.EncodeToString([]byte("me:s3cret")))})
		logins.Store(0)
		args := "run bundle --dry-run " + strings.ReplaceAll(c.flags, "HOST", host) + " " + host + "/op:v1"
		code, _, errOut := imageCall(t, home, func(e *cmd.Env) {
			e.Environ = []string{"HOME=" + filepath.ToSlash(home), "KUBECONFIG=" + filepath.Join(home, "none")}
		}, strings.Fields(args)...)
		if code != 1 || !strings.Contains(errOut, c.want) {
			t.Errorf("%s: exit code %d, want %q\n%s", c.flags, code, c.want, errOut)
		}
		if sent := logins.Load() > 0; sent != (c.want == reached) {
			t.Errorf("%s: credentials were sent: %t", c.flags, sent)
		}
	}
}
