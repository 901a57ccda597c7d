package image_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/image"
)

// item is an entry of a tarball.
type item struct {
	header  tar.Header
	content string
}

func file(name, content string) item {
	return item{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))}, content}
}

func entry(kind byte, name, target string) item {
	return item{tar.Header{Name: name, Typeflag: kind, Linkname: target, Mode: 0o755}, ""}
}

// pack returns a tarball.
func pack(t testing.TB, items ...item) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, i := range items {
		if err := w.WriteHeader(&i.header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, i.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func plain(content []byte) v1.Layer { return static.NewLayer(content, types.OCIUncompressedLayer) }

func zipped(t testing.TB, content []byte, options ...tarball.LayerOption) v1.Layer {
	t.Helper()
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }, options...)
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

func labels() map[string]string {
	return map[string]string{
		"operators.operatorframework.io.bundle.manifests.v1": "manifests/",
		"operators.operatorframework.io.bundle.metadata.v1":  "metadata/",
		"operators.operatorframework.io.bundle.package.v1":   "memcached",
	}
}

// build returns an image.
func build(t testing.TB, labels map[string]string, layers ...v1.Layer) v1.Image {
	t.Helper()
	img, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		t.Fatal(err)
	}
	if img, err = mutate.Config(img, v1.Config{Labels: labels}); err != nil {
		t.Fatal(err)
	}
	return img
}

// good returns the layers of a bundle as built from bundle.Dockerfile, one for each COPY.
func good(t testing.TB) []v1.Layer {
	return []v1.Layer{
		zipped(t, pack(t, entry(tar.TypeDir, "manifests/", ""), file("manifests/csv.yaml", "kind: ClusterServiceVersion\n"))),
		zipped(t, pack(t, entry(tar.TypeDir, "metadata/", ""), file("metadata/annotations.yaml", "annotations: {}\n"))),
		zipped(t, pack(t, file("./tests/scorecard/config.yaml", "kind: Configuration\n"), file("etc/passwd", "root\n"))),
	}
}

// stored writes an image to a new OCI layout and returns its directory.
func stored(t testing.TB, img v1.Image) string {
	t.Helper()
	dir := t.TempDir()
	to, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := to.AppendImage(img); err != nil {
		t.Fatal(err)
	}
	return dir
}

func onDisk() image.Options { return image.Options{FS: afero.NewOsFs()} }

// list lists the files of a bundle with their content.
func list(t testing.TB, b *image.Bundle) string {
	t.Helper()
	var out strings.Builder
	err := fs.WalkDir(b.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(b.FS, name)
		out.WriteString(name + "=" + strings.TrimSpace(string(data)) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func digestOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }
