package image_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/image"
)

// countingFs counts the bytes that are read from files.
type countingFs struct {
	afero.Fs
	read *int64
}

type countingFile struct {
	afero.File
	read *int64
}

func (c countingFs) Open(name string) (afero.File, error) {
	f, err := c.Fs.Open(name)
	return countingFile{f, c.read}, err
}

func (f countingFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	*f.read += int64(n)
	return n, err
}

func (f countingFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	*f.read += int64(n)
	return n, err
}

// savedBundle returns a tarball of docker save with padding bytes that do not compress, and a bundle of count layers.
func savedBundle(t *testing.T, count, padding int) []byte {
	t.Helper()
	x := uint64(1)
	random := make([]byte, padding)
	for i := range random {
		x = x*6364136223846793005 + 1
		random[i] = byte(x >> 56)
	}
	items := []item{file("padding", string(random))}
	config := v1.ConfigFile{RootFS: v1.RootFS{Type: "layers"}, Config: v1.Config{Labels: labels()}}
	var names []string
	for i := range count {
		layer := pack(t, file(fmt.Sprintf("manifests/%d.yaml", i), "kind: List\n"), file("metadata/annotations.yaml", "annotations: {}\n"))
		name := fmt.Sprintf("layer%d.tar", i)
		items, names = append(items, file(name, string(layer))), append(names, name)
		digest, err := v1.NewHash(digestOf(layer))
		if err != nil {
			t.Fatal(err)
		}
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, digest)
	}
	for name, content := range map[string]any{
		"config.json": config, "manifest.json": []map[string]any{{"Config": "config.json", "RepoTags": []string{"op:v1"}, "Layers": names}},
	} {
		data, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, file(name, string(data)))
	}
	return pack(t, items...)
}

// TestOpenTarballOnce checks that a tarball is read and decompressed a fixed number of times, whatever its number of layers.
func TestOpenTarballOnce(t *testing.T) {
	t.Parallel()
	plain := savedBundle(t, 100, 1<<20)
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		content []byte
		limits  image.Limits
		want    string
	}{
		{"plain", plain, image.Limits{}, ""},
		{"compressed", compressed.Bytes(), image.Limits{}, ""},
		{"compressed, kept in part", compressed.Bytes(), image.Limits{Memory: 100_000, Total: 128 << 20}, ""},
		{"compressed, not kept", compressed.Bytes(), image.Limits{Memory: 1, Total: 16 << 20}, "exceeds 16 MiB when decompressed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "image.tar")
			if err := os.WriteFile(name, test.content, 0o600); err != nil {
				t.Fatal(err)
			}
			read := int64(0)
			b, err := image.Open(t.Context(), name, image.Options{FS: countingFs{afero.NewOsFs(), &read}, Limits: test.limits})
			switch {
			case test.want != "":
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "; decompress the tarball first") {
					t.Errorf("got %v, want %s", err, test.want)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if files := list(t, b); strings.Count(files, "kind: List") != 100 {
				t.Errorf("bundle contains %s, want 100 lists", files)
			}
			if size := int64(len(test.content)); test.limits.Memory == 0 && read > 2*size {
				t.Errorf("read %d bytes of a tarball of %d, want at most twice its size", read, size)
			}
		})
	}
}
