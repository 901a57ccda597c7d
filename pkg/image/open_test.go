package image_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/compression"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/operon-sdk/operon/pkg/image"
)

const goodFiles = "manifests/csv.yaml=kind: ClusterServiceVersion\nmetadata/annotations.yaml=annotations: {}\ntests/scorecard/config.yaml=kind: Configuration\n"

func reference(t testing.TB, ref string) name.Reference {
	t.Helper()
	parsed, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// serve starts a registry with a filter of requests.
func serve(t *testing.T, guard func(http.Handler) http.Handler) (host string) {
	t.Helper()
	server := httptest.NewServer(guard(registry.New(registry.Logger(log.New(io.Discard, "", 0)))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func unguarded(h http.Handler) http.Handler { return h }

// basic requires basic authentication.
func basic(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "s3cret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			// A registry that repeats what it was sent.
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"not you: `+r.Header.Get("Authorization")+password+`"}]}`, http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// bearer requires a token, and issues one for the password, as Docker Hub and Quay do.
func bearer(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/token" && (user != "me" || password != "s3cret"):
			http.Error(w, "s3cret is the password, not "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		case r.URL.Path == "/token":
			_, _ = io.WriteString(w, `{"token":"t0ken"}`)
		case r.Header.Get("Authorization") != "Bearer t0ken":
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="test"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

func write(t *testing.T, ref string, img v1.Image) {
	t.Helper()
	if err := remote.Write(reference(t, ref), img, remote.WithAuth(&authn.Basic{Username: "me", Password: "s3cret"})); err != nil {
		t.Fatal(err)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	host := serve(t, unguarded)
	img := build(t, labels(), good(t)...)
	write(t, host+"/team/op-bundle:v1", img)
	hash, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	digest := hash.String()

	// An index with an attestation, as pushed by buildx.
	index := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: build(t, nil), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"}, Annotations: map[string]string{"vnd.docker.reference.type": "attestation-manifest"}}},
		mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}}})
	if err := remote.WriteIndex(reference(t, host+"/team/index:v1"), index); err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	one := stored(t, img)
	several, err := layout.Write(filepath.Join(dir, "several"), empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	other := build(t, nil)
	for tag, add := range map[string]v1.Image{"v1": img, "v2": other} {
		if err := several.AppendImage(add, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": tag})); err != nil {
			t.Fatal(err)
		}
	}
	nested, err := layout.Write(filepath.Join(dir, "nested"), empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := nested.AppendIndex(index); err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(dir, "saved.tar")
	if err := tarball.MultiRefWriteToFile(saved, map[name.Reference]v1.Image{reference(t, "example.com/op:v1"): img}); err != nil {
		t.Fatal(err)
	}
	two := filepath.Join(dir, "two.tar")
	if err := tarball.MultiRefWriteToFile(two, map[name.Reference]v1.Image{reference(t, "example.com/op:v1"): img, reference(t, "example.com/op:v2"): other}); err != nil {
		t.Fatal(err)
	}
	dockerArchive := filepath.Join(dir, "unpacked.tar")
	saveUnpacked(t, dockerArchive, img)
	ociArchive := filepath.Join(dir, "oci.tar")
	if err := os.WriteFile(ociArchive, packDir(t, one), 0o600); err != nil {
		t.Fatal(err)
	}
	data := zipBytes(t, packDir(t, one))
	if err := os.WriteFile(ociArchive+".gz", data, 0o600); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name, ref, digest string
		with              image.Registries
	}{
		{"tag", host + "/team/op-bundle:v1", digest, image.Registries{}},
		{"digest", host + "/team/op-bundle@" + digest, digest, image.Registries{}},
		{"transport", "docker://" + host + "/team/op-bundle:v1", digest, image.Registries{}},
		{"index", host + "/team/index:v1", digest, image.Registries{}},
		{"mirror", "registry.invalid/team/op-bundle:v1", digest, image.Registries{Mirrors: map[string]string{"registry.invalid": host}}},
		{"mirror and digest", "registry.invalid/team/op-bundle@" + digest, digest, image.Registries{Mirrors: map[string]string{"registry.invalid": host}}},
		{"layout", one, digest, image.Registries{}},
		{"layout, transport", "oci:" + one, digest, image.Registries{}},
		{"layout, tag", string(several) + ":v1", digest, image.Registries{}},
		{"layout, digest", string(several) + "@" + digest, digest, image.Registries{}},
		{"layout, index in index", string(nested), digest, image.Registries{}},
		{"docker save, packed layers", saved, "", image.Registries{}},
		{"docker save", dockerArchive, "", image.Registries{}},
		{"docker save, transport", "docker-archive:" + saved, "", image.Registries{}},
		{"docker save, tag", two + ":example.com/op:v1", "", image.Registries{}},
		{"docker save, short tag", two + ":v1", "", image.Registries{}},
		{"oci tarball", ociArchive, digest, image.Registries{}},
		{"oci tarball, packed", ociArchive + ".gz", digest, image.Registries{}},
		{"oci tarball, transport", "oci-archive:" + ociArchive, digest, image.Registries{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := onDisk()
			o.Registries = c.with
			b, err := image.Open(t.Context(), c.ref, o)
			if err != nil {
				t.Fatal(err)
			}
			if got := list(t, b); got != goodFiles {
				t.Errorf("bundle contains %s", got)
			}
			if b.Digest != c.digest || b.Labels["operators.operatorframework.io.bundle.package.v1"] != "memcached" {
				t.Errorf("bundle has digest %s and labels %v", b.Digest, b.Labels)
			}
		})
	}
	t.Run("relative", func(t *testing.T) {
		o := onDisk()
		o.Dir = dir
		if _, err := image.Open(t.Context(), "saved.tar", o); err != nil {
			t.Error(err)
		}
	})
	for ref, want := range map[string]string{
		string(several):              "contains 2 images; append the name of one after a colon: ",
		string(several) + ":v3":      "contains no image v3; it contains: ",
		two:                          "contains 2 images; append the name of one after a colon: ",
		two + ":v3":                  "contains no image v3; it contains: ",
		string(several) + ":v2":      "is not a bundle image: it has no labels",
		dir:                          "is not an OCI layout: its index.json: file does not exist",
		filepath.Join(dir, "no.tar"): "pass an OCI layout, a tarball, or an image",
		"bundel":                     "pass an OCI layout, a tarball, or an image",
		"":                           "pass an OCI layout, a tarball, or an image",
		"oci:nowhere:v1":             "pass an OCI layout, a tarball, or an image",
	} {
		o := onDisk()
		o.Transport = noNetwork{t}
		if _, err := image.Open(t.Context(), ref, o); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "no such file or directory", "file does not exist"), want) {
			t.Errorf("%q: got %v, want %q", ref, err, want)
		}
	}
}

type noNetwork struct{ t *testing.T }

func (n noNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	n.t.Errorf("unexpected request to %s", r.URL)
	return nil, errors.New("no network")
}

func TestOpenZstd(t *testing.T) {
	t.Parallel()
	content := pack(t, file("manifests/a.yaml", "a"), file("metadata/annotations.yaml", "b"))
	img := build(t, labels(), zipped(t, content, tarball.WithCompression(compression.ZStd)))
	b, err := image.Open(t.Context(), stored(t, img), onDisk())
	if err != nil {
		t.Fatal(err)
	}
	if got := list(t, b); got != "manifests/a.yaml=a\nmetadata/annotations.yaml=b\n" {
		t.Error(got)
	}
}

func TestOpenLabels(t *testing.T) {
	t.Parallel()
	without := func(label string) map[string]string {
		l := labels()
		delete(l, "operators.operatorframework.io.bundle."+label)
		return l
	}
	with := func(label, value string) map[string]string {
		l := labels()
		l["operators.operatorframework.io."+label] = value
		return l
	}
	for _, c := range []struct {
		name   string
		labels map[string]string
		want   string
	}{
		{"none", nil, "it has no labels operators.operatorframework.io.bundle.*; build it from bundle.Dockerfile"},
		{"no manifests", without("manifests.v1"), "the label operators.operatorframework.io.bundle.manifests.v1 is missing"},
		{"no metadata", without("metadata.v1"), "the label operators.operatorframework.io.bundle.metadata.v1 is missing"},
		{"out of the root", with("bundle.manifests.v1", "../manifests"), `must name a directory of the image, such as manifests/, not "../manifests"`},
		{"root", with("bundle.metadata.v1", "/"), "must name a directory of the image"},
		{"empty", with("test.config.v1", ""), "must name a directory of the image"},
		{"missing directory", with("bundle.manifests.v1", "deploy/"), "names the directory deploy, which the image does not contain"},
		{"a file", with("bundle.manifests.v1", "etc/passwd"), "names the directory etc/passwd, which the image does not contain"},
		{"absolute is fine", with("bundle.manifests.v1", "/manifests/"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := image.Open(t.Context(), stored(t, build(t, c.labels, good(t)...)), onDisk())
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, image.ErrNotBundle) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// keys is a keychain with one entry.
type keys struct{ authn.Authenticator }

func (k keys) Resolve(authn.Resource) (authn.Authenticator, error) { return k.Authenticator, nil }

type brokenKeys struct{}

func (brokenKeys) Resolve(authn.Resource) (authn.Authenticator, error) {
	return nil, errors.New("helper prints s3cret")
}

func TestOpenRefused(t *testing.T) {
	t.Parallel()
	guarded := serve(t, basic)
	write(t, guarded+"/op:v1", build(t, labels(), good(t)...))
	tokens := serve(t, bearer)
	write(t, tokens+"/op:v1", build(t, labels(), good(t)...))
	open := serve(t, unguarded)
	answers := func(status int) string {
		return serve(t, func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "s3cret", status) })
		})
	}
	forbidden, busy, teapot := answers(http.StatusForbidden), answers(http.StatusTooManyRequests), answers(http.StatusTeapot)
	down := httptest.NewServer(nil)
	down.Close()
	unreachable := strings.TrimPrefix(down.URL, "http://")
	redirected := serve(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/blobs/") && r.Method == http.MethodGet {
				http.Redirect(w, r, "http://me:s3cret@"+unreachable+"/blob?X-Signature=s3cret", http.StatusTemporaryRedirect)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	write(t, redirected+"/op:v1", build(t, labels(), good(t)...))
	secure := httptest.NewTLSServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(secure.Close)

	// Local hosts are contacted over plain HTTP without a flag, so others are used in their place.
	dialer := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		switch address {
		case "registry.test:443":
			address = secure.Listener.Addr().String()
		case "plain.test:443":
			address = open
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	t.Cleanup(dialer.CloseIdleConnections)

	right := keys{&authn.Basic{Username: "me", Password: "s3cret"}}
	for _, host := range []string{guarded, tokens} {
		if _, err := image.Open(t.Context(), host+"/op:v1", image.Options{Registries: image.Registries{Keychain: right, PlainHTTP: []string{host}}}); err != nil {
			t.Errorf("with the password: %v", err)
		}
	}
	for _, c := range []struct {
		name, ref string
		keys      authn.Keychain
		want      string
	}{
		{"not there", open + "/op:v1", nil, open + " has no v1; push the image first, or correct the reference"},
		{"no credentials", guarded + "/op:v1", keys{authn.Anonymous}, "denied access (401); log in with 'docker login " + guarded + "' or 'podman login"},
		{"wrong credentials", guarded + "/op:v1", keys{&authn.Basic{Username: "me", Password: "s3cret2"}}, "denied access (401) with the configured credentials; renew them with"},
		{"no token", tokens + "/op:v1", keys{authn.Anonymous}, "denied access (401); log in with"},
		{"no token for these", tokens + "/op:v1", keys{&authn.Basic{Username: "me", Password: "s3cret2"}}, "with the configured credentials"},
		{"broken credentials", guarded + "/op:v1", brokenKeys{}, "cannot read the credentials for " + guarded},
		{"forbidden", forbidden + "/op:v1", nil, "denied access (403); log in"},
		{"too many", busy + "/op:v1", nil, "too many requests (429); wait"},
		{"no registry", teapot + "/op:v1", nil, "responded with 418"},
		{"down", unreachable + "/op:v1", nil, "the registry cannot be reached"},
		{"redirected", redirected + "/op:v1", nil, "the registry cannot be reached"},
		{"certificate", "registry.test/op:v1", nil, "--insecure-registry registry.test"},
		{"certificate of a private host", secure.Listener.Addr().String() + "/op:v1", nil, "x509: certificate signed by unknown authority; if that is intended, allow it with --insecure-registry 127.0.0.1:"},
		{"no TLS", "plain.test/op:v1", nil, "--insecure-registry plain.test"},
		{"address", "https://me:s3cret@" + open + "/op:v1", nil, "must be an image reference such as registry.example.com/team/operator:v1, without https://"},
		{"password", "me:s3cret@" + open + "/op:v1", nil, "must not contain a user and password"},
		{"password and digest", "me:s3cret@" + open + "/op@sha256:" + strings.Repeat("0", 64), nil, "must not contain a user and password"},
		{"no reference", open + "/Op:v1", nil, "Op"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := image.Options{Registries: image.Registries{Keychain: c.keys, Transport: dialer, PlainHTTP: []string{guarded, tokens}}}
			_, err := image.Open(t.Context(), c.ref, o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			encoded := base64.StdEncoding.EncodeToString([]byte("me:s3cret"))
			if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), encoded) {
				t.Errorf("error contains a secret: %v", err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error has several lines: %v", err)
			}
		})
	}
}

func TestOpenInsecure(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(secure.Close)
	host := secure.Listener.Addr().String()
	if err := remote.Write(reference(t, host+"/op:v1"), build(t, labels(), good(t)...), remote.WithTransport(secure.Client().Transport)); err != nil {
		t.Fatal(err)
	}
	for _, transport := range []http.RoundTripper{nil, http.DefaultTransport} {
		with := image.Registries{Transport: transport, SkipVerify: []string{host}}
		if _, err := image.Open(t.Context(), host+"/op:v1", image.Options{Registries: with}); err != nil {
			t.Error(err)
		}
		with.SkipVerify = []string{"other.test"}
		with.Settings = machine(t, map[string]string{"/etc/containers/registries.conf": "[[registry]]\nlocation = \"other.test\"\ninsecure = true\n"}, nil)
		if _, err := image.Open(t.Context(), host+"/op:v1", image.Options{Registries: with}); err == nil {
			t.Error("an unknown certificate was accepted")
		}
		with.Settings = machine(t, map[string]string{"/etc/containers/registries.conf": "[[registry]]\nlocation = \"" + host + "\"\ninsecure = true\n"}, nil)
		if _, err := image.Open(t.Context(), host+"/op:v1", image.Options{Registries: with}); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenCancelled(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 10)
	host := serve(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			started <- struct{}{}
			<-r.Context().Done()
		})
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if _, err := image.Open(ctx, host+"/op:v1", image.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("registry: got %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := image.Open(ended, stored(t, build(t, labels(), good(t)...)), onDisk()); !errors.Is(err, context.Canceled) {
		t.Errorf("layout: got %v", err)
	}
}

func TestIsReference(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]bool{
		"quay.io/team/op": true, "op:v1": true, "localhost/op": true, "docker://op": true, "team/op@sha256:0": true,
		"bundle": false, "./bundle:v1": false, "../x.io/y": false, "/x:1": false, "a/b": false, "a.io/op.tar": false, `C:\x`: false, "": false,
	} {
		if got := image.IsReference(ref); got != want {
			t.Errorf("%s: got %v", ref, got)
		}
	}
}

func TestOpenReadOnly(t *testing.T) {
	t.Parallel()
	b, err := image.Open(t.Context(), stored(t, build(t, labels(), good(t)...)), onDisk())
	if err != nil {
		t.Fatal(err)
	}
	entries, err := fs.ReadDir(b.FS, ".")
	if err != nil || len(entries) != 3 {
		t.Errorf("got %v, %v", entries, err)
	}
	if _, err := fs.Stat(b.FS, "etc/passwd"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file outside of the bundle was kept: %v", err)
	}
}
