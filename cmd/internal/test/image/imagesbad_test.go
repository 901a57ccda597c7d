package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ggcrname "github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	ggcrtar "github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// layerOf returns a layer with one file of an unchecked name.
func layerOf(t *testing.T, name string, size int64) v1.Layer {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: size}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(w, nothing{}, size); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	layer, err := ggcrtar.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

type nothing struct{}

func (nothing) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestBadImages runs the commands that read images with images that are not bundles. They report the reason without secrets,
// write nothing and exit with 1.
func TestBadImages(t *testing.T) {
	t.Parallel()
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); strings.Contains(r.URL.Path, "/private/") && password != "s3cret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	down := httptest.NewServer(nil)
	down.Close()
	gone := strings.TrimPrefix(down.URL, "http://")

	labels := map[string]string{"operators.operatorframework.io.bundle.manifests.v1": "manifests/", "operators.operatorframework.io.bundle.metadata.v1": "metadata/"}
	good := []v1.Layer{layerOf(t, "manifests/csv.yaml", 1), layerOf(t, "metadata/annotations.yaml", 1)}
	for path, c := range map[string]struct {
		labels map[string]string
		layer  v1.Layer
	}{
		"nolabels": {nil, good[0]}, "up": {labels, layerOf(t, "manifests/../../evil", 1)}, "absolute": {labels, layerOf(t, "/etc/evil", 1)}, "bomb": {labels, layerOf(t, "manifests/big.yaml", 12<<20)},
	} {
		img, err := mutate.AppendLayers(empty.Image, append(good[:len(good):len(good)], c.layer)...)
		if err != nil {
			t.Fatal(err)
		}
		if img, err = mutate.Config(img, v1.Config{Labels: c.labels}); err != nil {
			t.Fatal(err)
		}
		ref, err := ggcrname.ParseReference(host + "/" + path + "/op:v1")
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(ref, img); err != nil {
			t.Fatal(err)
		}
	}

	home := t.TempDir()
	secret := base64.StdEncoding.EncodeToString([]byte("me:0ldsecret"))
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(`{"auths":{"`+host+`":{"auth":"`+secret+`"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	call := func(t *testing.T, environ []string, args ...string) (int, string) {
		t.Helper()
		var out bytes.Buffer
		env := &cmd.Env{In: strings.NewReader(""), Out: &out, Err: &out, Dir: dir, FS: afero.NewOsFs(), Environ: environ}
		code := cmd.Main(t.Context(), env, append([]string{"operon"}, args...))
		if files := clitest.ReadTree(t, dir); len(files) > 0 {
			t.Errorf("%q wrote %s", args, clitest.SortedKeys(files))
		}
		if text := out.String(); strings.Contains(text, "0ldsecret") || strings.Contains(text, secret) || strings.Contains(text, home) {
			t.Errorf("%q prints a secret:\n%s", args, text)
		}
		return code, out.String()
	}
	var refs, wants []string
	for _, c := range []struct {
		ref, want string
		environ   []string
	}{
		{host + "/private/op:v1", "does not serve TLS, and credentials are not sent over plain HTTP", []string{"DOCKER_CONFIG=" + home}},
		{host + "/none/op:v1", "has no v1; push the image first, or correct the reference", nil},
		{gone + "/op:v1", "the registry cannot be reached", nil},
		{host + "/private/op:v1", "denied access (401); log in with 'docker login " + host + "'", nil},
		{host + "/private/op:v1", "denied access (401) with the configured credentials; renew them", []string{"DOCKER_CONFIG=" + home}},
		{host + "/nolabels/op:v1", "is not a bundle image: it has no labels operators.operatorframework.io.bundle.*; build it from bundle.Dockerfile", nil},
		{host + "/up/op:v1", `entry "manifests/../../evil": has a path with ..`, nil},
		{host + "/absolute/op:v1", `entry "/etc/evil": has an absolute path`, nil},
		{host + "/bomb/op:v1", `entry "manifests/big.yaml": decompresses to more than 200 times its size`, nil},
	} {
		if c.environ == nil {
			refs, wants = append(refs, c.ref), append(wants, c.want)
		}
		for _, args := range [][]string{{"bundle", "validate", c.ref}, {"generate", "catalog", "--bundle", c.ref}, {"generate", "catalog", "--bundle", c.ref + "=quay.io/x/y:1", "--dry-run"}} {
			if strings.Contains(c.want, "401") {
				args = append(args, "--insecure-registry", host)
			}
			if code, text := call(t, c.environ, args...); code != 1 || !strings.Contains(text, c.want) {
				t.Errorf("%q: exit code %d\n%s", args, code, text)
			}
		}
	}
	for _, args := range [][]string{append([]string{"bundle", "validate"}, refs...), {"generate", "catalog", "--bundle", strings.Join(refs, ",")}} {
		code, text := call(t, nil, args...)
		if code != 1 {
			t.Errorf("%q: exit code %d", args, code)
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q does not report all errors, such as %s:\n%s", args, want, text)
			}
		}
	}
	// A name that nothing has is a wrong call, and the rest is told too.
	if code, text := call(t, nil, "generate", "catalog", "--bundle", "nope,"+refs[0]); code != 2 || !strings.Contains(text, wants[0]) || !strings.Contains(text, `--bundle "nope": no such file or directory`) {
		t.Errorf("exit code %d\n%s", code, text)
	}
}
