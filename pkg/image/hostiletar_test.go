package image_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/image"
)

const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	indexType    = "application/vnd.oci.image.index.v1+json"
)

// described returns count descriptors of a blob, as JSON.
func described(blob, mediaType string, count int) string {
	one := fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d}`, mediaType, digestOf([]byte(blob)), len(blob))
	return strings.TrimSuffix(strings.Repeat(one+",", count), ",")
}

// layoutTar returns a tarball of an OCI layout.
func layoutTar(t testing.TB, manifests string, blobs ...string) []byte {
	t.Helper()
	items := []item{file("oci-layout", `{}`), file("index.json", `{"manifests":[`+manifests+`]}`)}
	for _, blob := range blobs {
		items = append(items, file("blobs/sha256/"+strings.TrimPrefix(digestOf([]byte(blob)), "sha256:"), blob))
	}
	return pack(t, items...)
}

// savedTar returns a tarball of docker save with an entry for each configuration.
func savedTar(t testing.TB, entries ...map[string]any) []byte {
	t.Helper()
	manifest, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	layer := string(pack(t, file("a", "b")))
	config := `{"rootfs":{"type":"layers","diff_ids":["` + digestOf([]byte(layer)) + `"]}}`
	return pack(t, file("manifest.json", string(manifest)), file("c", config), file("l", layer))
}

// TestHostileTarballs copies tarballs that no builder makes to a layout and to a registry.
func TestHostileTarballs(t *testing.T) {
	t.Parallel()
	saved := map[string]any{"Config": "c", "RepoTags": []string{"x/op:v1"}, "Layers": []string{"l"}}
	with := func(key string, value any) map[string]any {
		changed := map[string]any{"Config": "c", "RepoTags": []string{"x/op:v1"}, "Layers": []string{"l"}}
		changed[key] = value
		return changed
	}
	images := make([]map[string]any, 10_001)
	for i := range images {
		images[i] = with("RepoTags", []string{"x/op:v" + strconv.Itoa(i)})
	}
	complete := savedTar(t, saved)
	// Each index lists the one before it 900 times.
	config := `{"rootfs":{"type":"layers","diff_ids":[]}}`
	manifest := `{"schemaVersion":2,"config":` + described(config, "application/vnd.oci.image.config.v1+json", 1) + `,"layers":[]}`
	first := `{"manifests":[` + described(manifest, manifestType, 900) + `]}`
	second := `{"manifests":[` + described(first, indexType, 900) + `]}`
	third := `{"manifests":[` + described(second, indexType, 900) + `]}`
	deep, blobs := manifest, []string{manifest, config}
	mediaType := manifestType
	for range 6 {
		deep, mediaType = `{"manifests":[`+described(deep, mediaType, 1)+`]}`, indexType
		blobs = append(blobs, deep)
	}
	negative := strings.Replace(manifest, `"size":`+strconv.Itoa(len(config)), `"size":-1`, 1)
	for _, c := range []struct {
		name string
		data []byte
		// written is how the copy to a layout ends, empty where it does not fail; pushed that to a registry, where it differs.
		written, pushed string
	}{
		{name: "good", data: complete},
		{name: "truncated in a header", data: complete[:1200], written: "is not a readable tarball: unexpected EOF; save the image again"},
		{name: "truncated in an entry", data: complete[:len(complete)-2048-1024], written: "is not a readable tarball: unexpected EOF"},
		{name: "truncated gzip", data: zipBytes(t, complete)[:100], written: "unexpected EOF"},
		{name: "path of another directory", data: pack(t, file("../evil", "x")), written: `contains the entry "../evil" outside of its root directory`},
		{name: "configuration outside of the tarball", data: savedTar(t, with("Config", "../../../etc/passwd")), written: "its ../../../etc/passwd: file does not exist"},
		{name: "layer outside of the tarball", data: savedTar(t, with("Layers", []string{"/etc/passwd"})), written: "its /etc/passwd: file does not exist"},
		{name: "link outside of the bundle", data: pack(t, entry(tar.TypeSymlink, "manifest.json", "/etc/passwd")), written: "neither the manifest.json"},
		{name: "sparse entry", data: sparseFile(t), written: `contains the sparse file "manifests/s"`},
		{name: "long name", data: pack(t, file(strings.Repeat("n", 5000), "")), written: "has entry names that are too long"},
		{name: "null", data: pack(t, file("manifest.json", "null")), written: "contains no image"},
		{name: "many images", data: savedTar(t, images...), written: "its manifest.json lists 10001 images, more than the 10000 that are supported"},
		{name: "many layers", data: savedTar(t, with("Layers", make([]string, 1001))), written: "has 1001 layers, more than the 1000"},
		{name: "too few layers", data: savedTar(t, with("Layers", []string{})), written: "its configuration has no layer"},
		{name: "control characters", data: savedTar(t, with("Config", "\x1b[31m\nc")), written: `its \x1b[31m\nc: file does not exist`},
		{name: "other layer", data: savedTar(t, with("Layers", []string{"c"})), written: "its content does not match its digest"},
		{name: "indexes of indexes", data: layoutTar(t, described(third, indexType, 1), third, second, first, manifest, config), pushed: "lists more than 10000 images"},
		{name: "deep index", data: layoutTar(t, described(deep, indexType, 1), blobs...), written: "which is not an image", pushed: "has more than 3 nested indexes"},
		{name: "negative size", data: layoutTar(t, described(negative, manifestType, 1), negative, config), written: "its manifest has the size -1 for sha256:"},
		{name: "damaged manifest", data: bytes.Replace(layoutTar(t, described(manifest, manifestType, 1), manifest, config), []byte(`"schemaVersion":2`), []byte(`"schemaVersion":3`), 1), written: "its content does not match its digest"},
		{name: "layer without content", data: layoutTar(t, described(`{"layers":[{"mediaType":"x","size":9}]}`, manifestType, 1), `{"layers":[{"mediaType":"x","size":9}]}`), written: "is not a valid sha256 digest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			memory := afero.NewMemMapFs()
			if err := afero.WriteFile(memory, "/x.tar", c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			host := serve(t, unguarded)
			read, err := image.Options{FS: memory}.Images(t.Context(), "/x.tar")
			written, pushed := err, err
			if err == nil {
				written = image.WriteLayout(t.Context(), memory, "/out", read)
				_, pushed = image.Registries{}.Push(t.Context(), read[0], host+"/op:v1", nil)
			}
			for _, result := range []struct {
				to, want string
				err      error
			}{{"a layout", c.written, written}, {"a registry", cmp.Or(c.pushed, c.written), pushed}} {
				if result.want == "" && result.err != nil || result.want != "" && (result.err == nil || !strings.Contains(result.err.Error(), result.want)) {
					t.Errorf("to %s: got %v, want %q", result.to, result.err, result.want)
				}
				if result.err != nil && (strings.ContainsAny(result.err.Error(), "\n\x1b") || len(result.err.Error()) > 4000) {
					t.Errorf("to %s: unprintable or long error %.200q", result.to, result.err)
				}
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("request took %s", took)
			}
		})
	}
}

// FuzzTarball copies tarballs of arbitrary bytes, and reads bundles and catalogs from them.
func FuzzTarball(f *testing.F) {
	config := `{"config":{"Labels":{"operators.operatorframework.io.index.configs.v1":"/configs"}},"rootfs":{"type":"layers","diff_ids":[]}}`
	manifest := `{"schemaVersion":2,"config":` + described(config, "application/vnd.oci.image.config.v1+json", 1) + `,"layers":[]}`
	f.Add(savedTar(f, map[string]any{"Config": "c", "RepoTags": []string{"x/op:v1"}, "Layers": []string{"l"}}))
	f.Add(layoutTar(f, described(manifest, manifestType, 1), manifest, config))
	f.Add(pack(f, entry(tar.TypeSymlink, "manifest.json", "c"), file("c", `[{"Config":"c"}]`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		memory := afero.NewMemMapFs()
		if err := afero.WriteFile(memory, "/x.tar", data, 0o600); err != nil {
			t.Fatal(err)
		}
		o := image.Options{FS: memory, Limits: image.Limits{Entries: 200, File: 1 << 16, Bundle: 1 << 18, Total: 1 << 20}}
		_, opening := image.Open(t.Context(), "/x.tar", o)
		_, reading := image.OpenCatalog(t.Context(), "/x.tar", o)
		images, copying := o.Images(t.Context(), "/x.tar")
		if copying == nil {
			copying = image.WriteLayout(t.Context(), memory, "/out", images)
		}
		for _, err := range []error{opening, reading, copying} {
			if err != nil && (len(err.Error()) > 4000 || strings.Contains(err.Error(), "\x1b")) {
				t.Errorf("unprintable or long error %.200q", err)
			}
		}
		names, err := afero.Glob(memory, "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if name != "/x.tar" && name != "/out" {
				t.Errorf("wrote %q", name)
			}
		}
	})
}

// TestHostileCatalogImages opens catalog images whose labels or files are hostile.
func TestHostileCatalogImages(t *testing.T) {
	t.Parallel()
	catalog := file("configs/x/catalog.yaml", "schema: olm.package\n")
	for _, c := range []struct {
		name, label string
		entries     []item
		want        string
	}{
		{"good", "/configs", []item{catalog}, ""},
		{"root", "/", []item{catalog}, "must name a directory of the image"},
		{"path of another directory", "/../etc", []item{catalog}, "must name a directory of the image"},
		{"control characters", "/con\x1b[31mfigs\n", []item{catalog}, `the directory con\x1b[31mfigs\n of the label`},
		{"long label", strings.Repeat("a/", 200_000), []item{catalog}, "of the label"},
		{"file", "/configs", []item{file("configs", "x")}, "is missing"},
		{"link", "/configs", []item{entry(tar.TypeSymlink, "configs", "/etc")}, "is a symbolic link"},
		{"linked file", "/configs", []item{entry(tar.TypeSymlink, "configs/x", "/etc/passwd")}, "which the image does not have"},
		{"device", "/configs", []item{entry(tar.TypeChar, "configs/x", "")}, "is a device"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			layer := pack(t, c.entries...)
			label, err := json.Marshal(c.label)
			if err != nil {
				t.Fatal(err)
			}
			config := `{"config":{"Labels":{"operators.operatorframework.io.index.configs.v1":` + string(label) + `}},"rootfs":{"type":"layers","diff_ids":["` + digestOf(layer) + `"]}}`
			memory := afero.NewMemMapFs()
			if err := afero.WriteFile(memory, "/x.tar", pack(t, file("manifest.json", `[{"Config":"c","Layers":["l"]}]`), file("c", config), file("l", string(layer))), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = image.OpenCatalog(t.Context(), "/x.tar", image.Options{FS: memory})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err != nil && (strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 1000) {
				t.Errorf("unprintable or long error %.200q", err)
			}
		})
	}
}
