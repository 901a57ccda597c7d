package images

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/output"
)

type noSocket struct{ t *testing.T }

func (n noSocket) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "registry.test" {
		n.t.Errorf("asked %s", r.URL)
	}
	return nil, errors.New("no network")
}

// tarball returns a tarball of files.
func tarball(t *testing.T, files fstest.MapFS) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.AddFS(files); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestOpenBundle checks that directories and images have the same content, and that missing paths cause no requests.
func TestOpenBundle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"bundle/manifests/csv.yaml", "bundle/metadata/annotations.yaml"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	layer := tarball(t, fstest.MapFS{"manifests/csv.yaml": {Data: []byte("x")}, "metadata/annotations.yaml": {Data: []byte("x")}})
	config := fmt.Sprintf(`{"config":{"Labels":{"operators.operatorframework.io.bundle.manifests.v1":"manifests/","operators.operatorframework.io.bundle.metadata.v1":"metadata/"}},"rootfs":{"type":"layers","diff_ids":["sha256:%x"]}}`, sha256.Sum256(layer))
	manifest := `[{"Config":"c","RepoTags":["op:v1"],"Layers":["l"]}]`
	saved := tarball(t, fstest.MapFS{"manifest.json": {Data: []byte(manifest)}, "c": {Data: []byte(config)}, "l": {Data: layer}})
	if err := os.WriteFile(filepath.Join(dir, "bundle.tar"), saved, 0o600); err != nil {
		t.Fatal(err)
	}
	p := &output.Printer{Env: &env.Env{FS: afero.NewOsFs(), Dir: dir, HTTP: noSocket{t}}, Program: "operon"}
	var o Registry
	for arg, name := range map[string]string{"bundle": "bundle", "./bundle/": "bundle", filepath.Join(dir, "bundle"): "bundle", "bundle.tar": "bundle.tar", "bundle.tar:v1": "bundle.tar:v1"} {
		opened, err := OpenBundle(t.Context(), p, dir, arg, o.Access(p))
		if err != nil {
			t.Errorf("%s: %v", arg, err)
			continue
		}
		for _, file := range []string{"manifests/csv.yaml", "metadata/annotations.yaml"} {
			if data, err := fs.ReadFile(opened.FS, file); string(data) != "x" {
				t.Errorf("%s: %s: %q, %v", arg, file, data, err)
			}
		}
		if opened.Name != name || opened.Ref != "" {
			t.Errorf("OpenBundle(%s) = name %q, reference %q, want name %q and no reference", arg, opened.Name, opened.Ref, name)
		}
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}
	for arg, want := range map[string]string{
		"":                    "pass a directory or an image",
		"bundel":              "no such file or directory; 'operon generate bundle' writes a bundle",
		"./bundel.tar":        "no such file or directory",
		"bundle/no":           "no such file or directory",
		"bundle.tar:v2":       "contains no image v2; it contains: op:v1",
		"registry.test/op:v1": "registry.test: the registry cannot be reached",
	} {
		if _, err := OpenBundle(t.Context(), p, dir, arg, o.Access(p)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), dir) {
			t.Errorf("%q: got %v, want %s", arg, err, want)
		}
	}
}
