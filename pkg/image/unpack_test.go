package image_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/image"
)

// packDir returns a tarball of a directory.
func packDir(t testing.TB, dir string) []byte {
	t.Helper()
	var items []item
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel := filepath.ToSlash(strings.TrimPrefix(name, dir+string(filepath.Separator)))
		items = append(items, file("./"+rel, string(data)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pack(t, items...)
}

func zipBytes(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// saveUnpacked writes an image like docker save: layers as uncompressed tarballs, one of them as a link.
func saveUnpacked(t testing.TB, to string, img v1.Image) {
	t.Helper()
	config, err := img.RawConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	items := []item{file("abc.json", string(config))}
	var names []string
	for i, layer := range layers {
		r, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%d/layer.tar", i)
		if i == 0 {
			items = append(items, entry(tar.TypeSymlink, name, "../shared/layer.tar"), file("shared/layer.tar", string(data)))
		} else {
			items = append(items, file(name, string(data)))
		}
		names = append(names, `"`+name+`"`)
	}
	manifest := `[{"Config":"abc.json","RepoTags":["op:v1"],"Layers":[` + strings.Join(names, ",") + `]}]`
	if err := os.WriteFile(to, pack(t, append(items, file("manifest.json", manifest))...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// both returns the files that every bundle has.
func both() []item {
	return []item{file("manifests/a.yaml", "a"), file("metadata/annotations.yaml", "b")}
}

func TestLayersTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		layers [][]item
		want   string
	}{
		{"later wins", [][]item{both(), {file("manifests/a.yaml", "new")}}, "manifests/a.yaml=new"},
		{"removed", [][]item{both(), {file("manifests/b.yaml", "b"), file("manifests/.wh.a.yaml", "")}}, "manifests/b.yaml=b"},
		{"removed below only", [][]item{both(), {file("manifests/a.yaml", "new"), file("manifests/.wh.a.yaml", "")}}, "manifests/a.yaml=new"},
		{"directory removed", [][]item{both(), {file("manifests/x/y", "")}, {file("manifests/.wh.x", "")}}, "manifests/a.yaml=a"},
		{"opaque", [][]item{both(), {file("manifests/b.yaml", "b"), file("manifests/.wh..wh..opq", "")}}, "manifests/b.yaml=b"},
		{"opaque first", [][]item{both(), {file("manifests/.wh..wh..opq", ""), file("manifests/b.yaml", "b")}}, "manifests/b.yaml=b"},
		{"root removed and added", [][]item{both(), {file(".wh.manifests", ""), file("manifests/b.yaml", "b")}}, "manifests/b.yaml=b"},
		{"aufs metadata", [][]item{both(), {entry(tar.TypeDir, "manifests/.wh..wh.plnk", "")}}, "manifests/a.yaml=a"},
		{"file becomes directory", [][]item{both(), {entry(tar.TypeDir, "manifests/a.yaml/", ""), file("manifests/a.yaml/b", "b")}}, "manifests/a.yaml/b=b"},
		{"directory becomes file", [][]item{both(), {file("manifests/x/y", "y")}, {file("manifests/x", "x")}}, "manifests/a.yaml=a\nmanifests/x=x"},
		{"link", [][]item{both(), {entry(tar.TypeSymlink, "manifests/l.yaml", "a.yaml")}}, "manifests/a.yaml=a\nmanifests/l.yaml=a"},
		{"link up", [][]item{both(), {entry(tar.TypeSymlink, "manifests/l.yaml", "../metadata/annotations.yaml")}}, "manifests/a.yaml=a\nmanifests/l.yaml=b"},
		{"absolute link", [][]item{both(), {entry(tar.TypeSymlink, "manifests/l.yaml", "/manifests/a.yaml")}}, "manifests/a.yaml=a\nmanifests/l.yaml=a"},
		{"hard link", [][]item{both(), {entry(tar.TypeLink, "manifests/l.yaml", "manifests/a.yaml")}}, "manifests/a.yaml=a\nmanifests/l.yaml=a"},
		{"links outside of the bundle", [][]item{both(), {entry(tar.TypeSymlink, "etc/mtab", "../proc/mounts"), entry(tar.TypeLink, "bin/sh", "bin/busybox"), entry(tar.TypeDir, "/", "")}}, "manifests/a.yaml=a"},
		{"twice in a layer", [][]item{both(), {file("manifests/a.yaml", "1"), file("manifests/a.yaml", "2")}}, "manifests/a.yaml=2"},
		{"link becomes directory", [][]item{both(), {entry(tar.TypeSymlink, "manifests/x", "a.yaml")}, {entry(tar.TypeDir, "manifests/x", ""), file("manifests/x/y", "y")}}, "manifests/a.yaml=a\nmanifests/x/y=y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var layers []v1.Layer
			for _, items := range c.layers {
				layers = append(layers, plain(pack(t, items...)))
			}
			b, err := image.Open(t.Context(), stored(t, build(t, labels(), layers...)), onDisk())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(strings.ReplaceAll(list(t, b), "metadata/annotations.yaml=b\n", "")); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestLayersRefused(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("\x00", 1<<20)
	many := both()
	for i := range 60 {
		many = append(many, file(fmt.Sprintf("x/%d", i), ""))
	}
	for _, c := range []struct {
		name  string
		items []item
		entry string
		want  string
	}{
		{"up", []item{file("../evil", "x")}, "../evil", "path with .."},
		{"up inside", []item{file("manifests/../../evil", "x")}, "manifests/../../evil", "path with .."},
		{"absolute", []item{file("/manifests/evil", "x")}, "/manifests/evil", "absolute path"},
		{"link out", []item{entry(tar.TypeSymlink, "manifests/l", "../../etc/passwd")}, "manifests/l", "outside of the image"},
		{"link to a parent", []item{entry(tar.TypeSymlink, "x", "../y")}, "x", "outside of the image"},
		{"hard link out", []item{entry(tar.TypeLink, "manifests/l", "../../etc/passwd")}, "manifests/l", "hard link to"},
		{"absolute hard link", []item{entry(tar.TypeLink, "manifests/l", "/etc/passwd")}, "manifests/l", "hard link to"},
		{"hard link to nothing", []item{entry(tar.TypeLink, "manifests/l", "manifests/m")}, "manifests/l", "does not have"},
		{"hard link outside of the bundle", []item{file("etc/passwd", "x"), entry(tar.TypeLink, "manifests/l", "etc/passwd")}, "manifests/l", "not a file of the bundle"},
		{"device", []item{entry(tar.TypeChar, "manifests/null", "")}, "manifests/null", "is a device"},
		{"disk", []item{entry(tar.TypeBlock, "dev/sda", "")}, "dev/sda", "is a device"},
		{"pipe", []item{entry(tar.TypeFifo, "manifests/p", "")}, "manifests/p", "named pipe"},
		{"behind a link", []item{entry(tar.TypeSymlink, "x", "manifests"), file("x/evil", "x")}, "x/evil", `has the parent "x", which is a symbolic link`},
		{"behind a file", []item{file("manifests/f", ""), file("manifests/f/g", "")}, "manifests/f/g", "which is a file"},
		{"directory and file", []item{file("manifests/f/g", ""), file("manifests/f", "")}, "manifests/f", "a directory and a file"},
		{"whiteout of the parent", []item{file("manifests/.wh...", "")}, "manifests/.wh...", "outside of its directory"},
		{"whiteout of nothing", []item{file("manifests/.wh.", "")}, "manifests/.wh.", "outside of its directory"},
		{"repository", []item{file("manifests/.git/config", "")}, "manifests/.git/config", "directory of version control"},
		{"backslash", []item{file(`manifests/..\evil`, "")}, `manifests/..\evil`, "backslash"},
		{"control", []item{file("manifests/a\nb", "")}, "manifests/a\nb", "control character"},
		{"deep", []item{file(strings.Repeat("d/", 120)+"f", "")}, strings.Repeat("d/", 120) + "f", "more than 100 directories"},
		{"long", []item{file(strings.Repeat("d", 300), "")}, strings.Repeat("d", 300), "more than 255 bytes"},
		{"large file", []item{file("manifests/big", strings.Repeat("x", 3000))}, "manifests/big", "more than the maximum of 2 KiB"},
		{"large bundle", []item{file("manifests/1", strings.Repeat("x", 2000)), file("manifests/2", strings.Repeat("x", 2000)), file("manifests/3", strings.Repeat("x", 2000))}, "manifests/3", "larger than 5 KiB"},
		{"hard links count", []item{file("manifests/1", strings.Repeat("x", 2000)), entry(tar.TypeLink, "manifests/2", "manifests/1"), entry(tar.TypeLink, "manifests/3", "manifests/1")}, "manifests/3", "larger than 5 KiB"},
		{"bomb", []item{file("x", zeros), file("y", "")}, "x", "times its size"},
		{"many", many, "x/45", "maximum of 50 files and directories"},
		{"total", []item{file("x", strings.Repeat(incompressible(4<<10), 25)), file("y", "")}, "x", "exceeds 96 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := onDisk()
			o.Limits = image.Limits{Entries: 50, File: 2 << 10, Bundle: 5 << 10, Total: 96 << 10, Ratio: 100, RatioFrom: 16 << 10}
			items := c.items
			switch c.name {
			case "total":
				o.Limits.Ratio = 100_000
			case "bomb":
				o.Limits.Total = 1 << 30
			}
			dir := stored(t, build(t, labels(), zipped(t, pack(t, items...))))
			_, err := image.Open(t.Context(), dir, o)
			refused, ok := errors.AsType[*image.LayerError](err)
			if !ok || !strings.Contains(err.Error(), c.want) || refused.Entry != c.entry || !strings.HasPrefix(refused.Layer, "layer 1 of 1 (sha256:") {
				t.Fatalf("got %#v: %v; want %s: %s", refused, err, c.entry, c.want)
			}
		})
	}
	for _, c := range []struct {
		name   string
		layers [][]item
		want   string
	}{
		{"link to itself", [][]item{both(), {entry(tar.TypeSymlink, "manifests/l", "l")}}, `), entry "manifests/l": is a symbolic link to itself`},
		{"link to nothing", [][]item{both(), {entry(tar.TypeSymlink, "manifests/l", "m")}}, `layer 2 of 2 (sha256:`},
		{"link outside of the bundle", [][]item{both(), {file("etc/passwd", "x"), entry(tar.TypeSymlink, "manifests/l", "/etc/passwd")}}, "not a file of the bundle"},
		{"link to a directory", [][]item{both(), {entry(tar.TypeSymlink, "manifests/l", "..")}}, "is a symbolic link to"},
		{"directory is a link", [][]item{{file("x/a.yaml", "a"), entry(tar.TypeSymlink, "manifests", "x")}, {file("metadata/a", "")}}, `entry "manifests": is a symbolic link to "x" on the path of the bundle's directory manifests`},
		{"link of an earlier layer", [][]item{both(), {entry(tar.TypeSymlink, "x", "manifests")}, {file("x/evil", "")}}, `layer 3 of 3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var layers []v1.Layer
			for _, items := range c.layers {
				layers = append(layers, plain(pack(t, items...)))
			}
			if _, err := image.Open(t.Context(), stored(t, build(t, labels(), layers...)), onDisk()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// sparseFile returns a tarball with a sparse file.
func sparseFile(t *testing.T) []byte {
	t.Helper()
	header := pack(t, item{header: tar.Header{Name: "manifests/s", Typeflag: tar.TypeReg, Mode: 0o644, Format: tar.FormatGNU, AccessTime: time.Unix(1, 0)}})
	header[156] = tar.TypeGNUSparse
	copy(header[345:369], make([]byte, 24)) // the access time, which makes the header GNU's
	copy(header[483:495], "77777777777\x00")
	copy(header[148:156], "        ")
	var sum int
	for _, b := range header[:512] {
		sum += int(b)
	}
	copy(header[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return header
}

// TestSparse checks that a sparse file is an error, as its size costs the sender nothing.
func TestSparse(t *testing.T) {
	t.Parallel()
	_, err := image.Open(t.Context(), stored(t, build(t, labels(), plain(sparseFile(t)))), onDisk())
	if err == nil || !strings.Contains(err.Error(), `entry "manifests/s": is a sparse file`) {
		t.Errorf("got %v", err)
	}
}

// incompressible returns n bytes that do not compress, the same each time.
func incompressible(n int) string {
	out, state := make([]byte, n), uint32(1)
	for i := range out {
		state = state*1664525 + 1013904223
		out[i] = byte(state >> 24)
	}
	return string(out)
}

// wrongDigest is a layer with a wrong digest.
type wrongDigest struct{ v1.Layer }

func (wrongDigest) DiffID() (v1.Hash, error) {
	return v1.NewHash("sha256:" + strings.Repeat("0", 64))
}

func TestLayersDamaged(t *testing.T) {
	t.Parallel()
	complete := zipBytes(t, pack(t, both()...))
	for _, c := range []struct {
		name  string
		layer v1.Layer
		want  string
	}{
		{"invalid gzip", static.NewLayer([]byte("\x1f\x8bnonsense"), types.OCILayer), "cannot be unpacked"},
		{"no tarball", plain([]byte(strings.Repeat("nonsense", 200))), "cannot be unpacked"},
		{"cut off", static.NewLayer(complete[:len(complete)/2], types.OCILayer), "cannot be unpacked"},
		{"another digest", wrongDigest{plain(pack(t, both()...))}, "does not match the digest sha256:000000000000"},
		{"zstd with a huge window", static.NewLayer([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xb8, 0, 0, 0, 0, 0}, types.OCILayerZStd), "cannot be unpacked"},
		{"stored at another location", static.NewLayer(complete, types.OCIRestrictedLayer), "stored at another location"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := image.Open(t.Context(), stored(t, build(t, labels(), c.layer)), onDisk())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	t.Run("blob changed", func(t *testing.T) {
		t.Parallel()
		layer := zipped(t, pack(t, both()...))
		dir := stored(t, build(t, labels(), layer))
		hash, err := layer.Digest()
		if err != nil {
			t.Fatal(err)
		}
		blob := filepath.Join(dir, "blobs", "sha256", hash.Hex)
		for want, change := range map[string]func() error{
			"is missing":     func() error { return os.Remove(blob) },
			"does not match": func() error { return os.WriteFile(blob, zipBytes(t, pack(t, file("manifests/x", "y"))), 0o600) },
		} {
			if err := change(); err != nil {
				t.Fatal(err)
			}
			if _, err := image.Open(t.Context(), dir, onDisk()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	})
	t.Run("many layers", func(t *testing.T) {
		t.Parallel()
		o := onDisk()
		o.Limits.Layers = 2
		if _, err := image.Open(t.Context(), stored(t, build(t, labels(), good(t)...)), o); err == nil || !strings.Contains(err.Error(), "has 3 layers, more than the 2") {
			t.Errorf("got %v", err)
		}
	})
}

func TestArchivesRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "neither the manifest.json"},
		{"text", []byte(strings.Repeat("hello ", 200)), "is not a readable tarball"},
		{"of something else", pack(t, file("a", "b")), "neither the manifest.json"},
		{"not JSON", pack(t, file("manifest.json", "[{")), "is not JSON"},
		{"no image", pack(t, file("manifest.json", "[]")), "contains no image"},
		{"no configuration", pack(t, file("manifest.json", `[{"Config":"x.json"}]`)), "its x.json: file does not exist"},
		{"link to itself", pack(t, entry(tar.TypeSymlink, "x.json", "x.json"), file("manifest.json", `[{"Config":"x.json"}]`)), "its x.json: file does not exist"},
		{"large manifest", pack(t, file("manifest.json", strings.Repeat(" ", 5<<20))), "larger than the maximum of 4 MiB"},
		{"bomb", zipBytes(t, pack(t, file("x", strings.Repeat("\x00", 8<<20)))), "times its size"},
		{"index of nothing", pack(t, file("index.json", `{"manifests":[]}`)), "contains no image"},
		{"digest that is a path", pack(t, file("index.json", `{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:../../etc/passwd"}]}`)), "reading index.json"},
		{"null", pack(t, file("index.json", `{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json"}]}`)), "is not a valid sha256 digest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			memory := afero.NewMemMapFs()
			name := filepath.Join(string(filepath.Separator)+"work", "x.tar")
			if err := afero.WriteFile(memory, name, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			o := image.Options{FS: memory, Dir: filepath.Dir(name)}
			if _, err := image.Open(t.Context(), "x.tar", o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestBombStaysSmall checks that a decompression bomb uses neither memory nor time.
func TestBombStaysSmall(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	const huge = 256 << 20
	if err := w.WriteHeader(&tar.Header{Name: "manifests/x", Typeflag: tar.TypeReg, Size: 8 << 40}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(w, zeroes{}, huge); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir := stored(t, build(t, labels(), static.NewLayer(packed.Bytes(), types.OCILayer)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	o := onDisk()
	o.Limits = image.Limits{File: 16 << 40, Bundle: 16 << 40, Total: 16 << 40}
	_, err := image.Open(t.Context(), dir, o)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), `entry "manifests/x": decompresses to more than 200 times its size`) {
		t.Errorf("got %v", err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > huge/4 {
		t.Errorf("allocated %d MiB, want at most a quarter of the content", grown>>20)
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }
