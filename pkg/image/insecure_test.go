package image_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/operon-sdk/operon/pkg/image"
)

// TestSkipVerifyIsNotPlainHTTP checks that a host whose certificate is not verified is contacted with TLS only, and that
// the certificate of a host that may be contacted over plain HTTP is verified. No other host receives credentials.
func TestSkipVerifyIsNotPlainHTTP(t *testing.T) {
	t.Parallel()
	const reached, refused, untrusted = "has no v1", "plain HTTP is not allowed by --skip-tls-verify; pass --use-http", "x509: "
	for _, c := range []struct {
		name                             string
		tls, redirect, skipVerify, plain bool
		want                             string
	}{
		{name: "skip verify, HTTP", skipVerify: true, want: refused},
		{name: "skip verify, TLS", skipVerify: true, tls: true, want: reached},
		{name: "skip verify, TLS redirects to HTTP", skipVerify: true, tls: true, redirect: true, want: refused},
		{name: "plain, HTTP", plain: true, want: reached},
		{name: "plain, TLS", plain: true, tls: true, want: untrusted},
		{name: "both, HTTP", skipVerify: true, plain: true, want: reached},
		{name: "both, TLS", skipVerify: true, plain: true, tls: true, want: reached},
		{name: "neither, TLS", tls: true, want: untrusted},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var logins, redirected atomic.Int32
			unencrypted := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { redirected.Add(1) }))
			t.Cleanup(unencrypted.Close)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _, login := r.BasicAuth()
				if login {
					logins.Add(1)
				}
				switch {
				case !login:
					w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
					w.WriteHeader(http.StatusUnauthorized)
				case c.redirect:
					http.Redirect(w, r, unencrypted.URL+r.URL.Path, http.StatusTemporaryRedirect)
				default:
					http.NotFound(w, r)
				}
			}))
			server.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes
			if c.tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			t.Cleanup(server.Close)
			host := server.Listener.Addr().String()
			with := image.Registries{Keychain: keys{&authn.Basic{Username: "me", Password: "s3cret"}}}
			if c.skipVerify {
				with.SkipVerify = []string{host}
			}
			if c.plain {
				with.PlainHTTP = []string{host}
			}
			_, err := with.Digest(t.Context(), host+"/team/op:v1")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if sent := logins.Load() > 0; sent != (c.want == reached || c.redirect) {
				t.Errorf("credentials sent: %t", sent)
			}
			if n := redirected.Load(); n > 0 {
				t.Errorf("%d requests were redirected to plain HTTP", n)
			}
		})
	}
}
