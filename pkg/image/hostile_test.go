package image_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/transport"
)

// quickly has limits that are short enough for a test.
var quickly = transport.Limits{
	Connect: 500 * time.Millisecond, Document: 500 * time.Millisecond, Response: 500 * time.Millisecond,
	Upload: 500 * time.Millisecond, Idle: 500 * time.Millisecond, Notice: 50 * time.Millisecond,
}

// TestHostileRegistries reads, copies and pushes images with registries that stall, send without end or send invalid documents.
func TestHostileRegistries(t *testing.T) {
	t.Parallel()
	// hang sends no response until the client cancels the request.
	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
				return
			}
		}
	}
	manifest := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			_, _ = io.WriteString(w, text)
		}
	}
	index := func(size int) http.HandlerFunc {
		return manifest(fmt.Sprintf(`{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","size":%d,"digest":"sha256:%064d"}]}`, size, 1))
	}
	challenge := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="test"`)
		w.WriteHeader(http.StatusUnauthorized)
	}
	for _, c := range []struct {
		name string
		// path is part of the path of the requests that serve answers; empty is all requests. A registry answers the others.
		path  string
		serve http.HandlerFunc
		push  bool
		want  string
	}{
		{name: "no response", path: "/v2/", serve: hang, want: "the registry cannot be reached: Get \"http://HOST/v2/\": HOST accepted the connection and did not respond within 500ms; check that"},
		{name: "no manifest", path: "/manifests/", serve: hang, want: "did not respond within 500ms"},
		{name: "no blob", path: "/blobs/", serve: hang, want: "did not respond within 500ms"},
		{name: "endless ping", path: "/v2/", serve: endless, want: "HOST: the response is larger than 4 MiB"},
		{name: "endless manifest", path: "/manifests/", serve: endless, want: "HOST: the response is larger than 4 MiB"},
		{name: "endless error", path: "/manifests/", serve: func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot); endless(w, r) }, want: "HOST responded with 418"},
		{name: "endless token", path: "", serve: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/token" {
				endless(w, r)
				return
			}
			challenge(w, r)
		}, want: "HOST: the response is larger than 4 MiB"},
		{name: "redirects", path: "/manifests/", serve: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"a", http.StatusTemporaryRedirect)
		}, want: "stopped after 10 redirects; check that the host is a registry"},
		{name: "configuration of a negative size", path: "/manifests/", serve: manifest(`{"config":{"size":-1,"digest":"sha256:ab"}}`), want: "HOST: its manifest has the size -1 for sha256:ab; build and push"},
		{name: "large configuration", path: "/manifests/", serve: manifest(`{"config":{"size":99999999,"digest":"sha256:ab"}}`), want: "its manifest has the size 99999999 for sha256:ab, which may have at most 4 MiB"},
		{name: "layer of a negative size", path: "/manifests/", serve: manifest(`{"layers":[{"size":-1}]}`), want: "its manifest has the size -1"},
		{name: "image of a negative size", path: "/manifests/", serve: index(-1), want: "its index has the size -1"},
		{name: "many layers", path: "/manifests/", serve: manifest(`{"layers":[{}` + strings.Repeat(",{}", 1000) + `]}`), want: "its manifest lists 1001 layers, more than the 1000"},
		{name: "many images", path: "/manifests/", serve: manifest(`{"manifests":[{}` + strings.Repeat(",{}", 1000) + `]}`), want: "its index lists 1001 images, more than the 1000"},
		{name: "upload without response", path: "/blobs/uploads/", serve: hang, push: true, want: "did not respond within 500ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			matches := func(r *http.Request) bool {
				switch c.path {
				case "", r.URL.Path:
					return true
				case "/v2/":
					return false
				}
				return strings.Contains(r.URL.Path, c.path) && (c.push || r.Method == http.MethodGet)
			}
			host := serve(t, func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if matches(r) {
						c.serve(w, r)
						return
					}
					h.ServeHTTP(w, r)
				})
			})
			registries := image.Registries{Limits: quickly, PlainHTTP: []string{host}}
			var err error
			start := time.Now()
			if c.push {
				_, err = registries.Push(t.Context(), twoPlatforms(t), host+"/op:v1", nil)
			} else {
				if c.path == "/blobs/" {
					write(t, host+"/op:v1", build(t, labels(), good(t)...))
				}
				_, err = image.Open(t.Context(), host+"/op:v1", image.Options{Registries: registries})
			}
			if want := strings.ReplaceAll(c.want, "HOST", host); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("request took %s", took)
			}
		})
	}
}

// TestNegativeSizeInLayout checks that sizes in an OCI layout are validated like sizes from registries.
func TestNegativeSizeInLayout(t *testing.T) {
	t.Parallel()
	memory := afero.NewMemMapFs()
	for name, text := range map[string]string{
		"/oci/oci-layout": `{}`,
		"/oci/index.json": `{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","size":-1,"digest":"sha256:` + strings.Repeat("0", 64) + `"}]}`,
	} {
		if err := afero.WriteFile(memory, name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := image.Options{FS: memory}
	_, opening := image.Open(t.Context(), "/oci", o)
	_, copying := o.Images(t.Context(), "/oci")
	for _, err := range []error{opening, copying} {
		if document, ok := errors.AsType[*image.DocumentError](err); !ok || !strings.Contains(document.Error(), "its index has the size -1 for sha256:000000000000") {
			t.Errorf("got %v", err)
		}
	}
}

// TestNotify checks that a slow request is reported.
func TestNotify(t *testing.T) {
	t.Parallel()
	host := serve(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/manifests/") {
				time.Sleep(3 * quickly.Notice)
			}
			h.ServeHTTP(w, r)
		})
	})
	var mu sync.Mutex
	var notices []string
	registries := image.Registries{Limits: quickly, Notify: func(host, waiting string) {
		mu.Lock()
		defer mu.Unlock()
		notices = append(notices, host+" "+waiting)
	}}
	if _, err := registries.Digest(t.Context(), host+"/op:v1"); err == nil || !strings.Contains(err.Error(), "has no v1") {
		t.Errorf("got %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(notices, host+" to respond") {
		t.Errorf("got notices %q", notices)
	}
}

// TestCredentialsNeedTLS checks which servers receive credentials: the registry and the address that it names for tokens,
// over TLS or where plain HTTP is allowed for that very host, and no server that they redirect to.
func TestCredentialsNeedTLS(t *testing.T) {
	t.Parallel()
	const found = "has no v1"
	user := &authn.Basic{Username: "me", Password: "s3cret"}
	token := authn.FromConfig(authn.AuthConfig{IdentityToken: "s3cret"})
	for _, c := range []struct {
		name string
		// tls and realmTLS are whether the registry and the server for tokens serve TLS. Basic authentication has no realm.
		tls, realmTLS, basic bool
		auth                 authn.Authenticator
		// allowed are the hosts that plain HTTP is allowed for.
		allowed string
		want    string
		// sent is where the credentials are expected.
		sent string
	}{
		{name: "TLS, realm of TLS", tls: true, realmTLS: true, auth: user, want: found, sent: "realm"},
		{name: "TLS, realm of HTTP", tls: true, auth: user, want: "REGISTRY requests credentials for http://REALM/token, and credentials are not sent over plain HTTP; if that is intended, allow it with --insecure-registry REALM"},
		{name: "TLS, realm of HTTP, identity token", tls: true, auth: token, want: "allow it with --insecure-registry REALM"},
		{name: "TLS, realm of HTTP, only the registry is allowed", tls: true, auth: user, allowed: "registry", want: "--insecure-registry REALM"},
		{name: "TLS, realm of HTTP, allowed", tls: true, auth: user, allowed: "realm", want: found, sent: "realm"},
		{name: "TLS, realm of HTTP, no credentials", tls: true, auth: authn.Anonymous, want: found},
		{name: "HTTP, realm of HTTP", auth: user, want: "REGISTRY does not serve TLS, and credentials are not sent over plain HTTP; if that is intended, allow it with --insecure-registry REGISTRY"},
		{name: "HTTP, realm of HTTP, only the registry is allowed", auth: user, allowed: "registry", want: "--insecure-registry REALM"},
		{name: "HTTP, realm of HTTP, both are allowed", auth: user, allowed: "registry realm", want: found, sent: "realm"},
		{name: "HTTP, realm of HTTP, no credentials", auth: authn.Anonymous, want: found},
		{name: "HTTP, basic", basic: true, auth: user, want: "credentials are not sent over plain HTTP"},
		{name: "HTTP, basic, allowed", basic: true, auth: user, allowed: "registry", want: found, sent: "registry"},
		{name: "TLS, basic", basic: true, tls: true, auth: user, want: found, sent: "registry"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			sent := map[string]bool{}
			note := func(server string, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if _, password, _ := r.BasicAuth(); password == "s3cret" || r.FormValue("refresh_token") == "s3cret" {
					sent[server] = true
				}
			}
			start := func(tls bool, handler http.HandlerFunc) *httptest.Server {
				server := httptest.NewUnstartedServer(handler)
				server.Config.ErrorLog = log.New(io.Discard, "", 0) // plain HTTP on the port of TLS
				if tls {
					server.StartTLS()
				} else {
					server.Start()
				}
				t.Cleanup(server.Close)
				return server
			}
			realm := start(c.realmTLS, func(w http.ResponseWriter, r *http.Request) {
				note("realm", r)
				_ = json.NewEncoder(w).Encode(map[string]string{"token": "t0ken"})
			})
			server := start(c.tls, func(w http.ResponseWriter, r *http.Request) {
				note("registry", r)
				switch {
				case r.Header.Get("Authorization") != "":
					http.NotFound(w, r)
				case c.basic:
					w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
					w.WriteHeader(http.StatusUnauthorized)
				default:
					w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm.URL+`/token",service="test"`)
					w.WriteHeader(http.StatusUnauthorized)
				}
			})
			hosts := strings.NewReplacer("REGISTRY", server.Listener.Addr().String(), "REALM", realm.Listener.Addr().String())
			with := image.Registries{Keychain: keys{c.auth}, Transport: trusting(t, server, realm), Limits: quickly}
			for server := range strings.FieldsSeq(c.allowed) {
				with.PlainHTTP = append(with.PlainHTTP, hosts.Replace(strings.ToUpper(server)))
			}
			_, err := with.Digest(t.Context(), hosts.Replace("REGISTRY/team/op:v1"))
			if want := hosts.Replace(c.want); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, server := range []string{"registry", "realm"} {
				if sent[server] != (server == c.sent) {
					t.Errorf("credentials sent to the %s: %t", server, sent[server])
				}
			}
		})
	}
}

// trusting returns a transport that trusts the certificates of servers.
func trusting(t *testing.T, servers ...*httptest.Server) http.RoundTripper {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	for _, server := range servers {
		if server.TLS != nil { // all have the same certificate
			transport = server.Client().Transport.(*http.Transport).Clone()
		}
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// TestRedirectsHaveNoCredentials checks that a server that a blob is redirected to receives no credentials.
func TestRedirectsHaveNoCredentials(t *testing.T) {
	t.Parallel()
	for name, guard := range map[string]func(http.Handler) http.Handler{"basic": basic, "bearer": bearer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blobs := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
			storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != "" {
					t.Errorf("%s was sent %s", r.URL.Path, got)
				}
				blobs.ServeHTTP(w, r)
			}))
			t.Cleanup(storage.Close)
			server := httptest.NewServer(guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
					http.Redirect(w, r, storage.URL+r.URL.Path, http.StatusTemporaryRedirect)
					return
				}
				blobs.ServeHTTP(w, r)
			})))
			t.Cleanup(server.Close)
			host := server.Listener.Addr().String()
			with := image.Registries{Keychain: keys{&authn.Basic{Username: "me", Password: "s3cret"}}, PlainHTTP: []string{host}}
			if err := remote.Write(reference(t, host+"/op:v1"), build(t, labels(), good(t)...), remote.WithAuth(&authn.Basic{Username: "me", Password: "s3cret"})); err != nil {
				t.Fatal(err)
			}
			if _, err := image.Open(t.Context(), host+"/op:v1", image.Options{Registries: with}); err != nil {
				t.Error(err)
			}
		})
	}
}
