package image_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/image"
)

// layerWith returns a layer with a text.
func layerWith(t testing.TB, text string) *image.Layer {
	t.Helper()
	layer, err := image.NewLayer("test", []image.File{image.Text("usr/share/b", 0o644, []byte(text)), image.Text("a", 0o555, []byte("a"))}, time.Unix(7, 0))
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

// twoPlatforms returns an image for two platforms.
func twoPlatforms(t testing.TB) *image.Image {
	t.Helper()
	img, err := image.Options{}.Build(t.Context(), image.Recipe{
		Base: image.Scratch, User: "1:1", Entrypoint: []string{"/a"}, Labels: map[string]string{"k": "v"}, Created: time.Unix(7, 0).UTC(), Author: "test",
		Parts: []image.Part{{Platform: "linux/amd64", Layers: []*image.Layer{layerWith(t, "amd")}}, {Platform: "linux/arm/v7", Layers: []*image.Layer{layerWith(t, "arm")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func digestOfImage(t testing.TB, img *image.Image) string {
	t.Helper()
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// TestBuild checks that a recipe results in the same digest each time, and the content of the image.
func TestBuild(t *testing.T) {
	t.Parallel()
	host := serve(t, unguarded)
	img := twoPlatforms(t)
	digest := digestOfImage(t, img)
	if again := digestOfImage(t, twoPlatforms(t)); again != digest {
		t.Errorf("the second build has digest %s, want %s", again, digest)
	}
	pushed, err := image.Registries{}.Push(t.Context(), img, host+"/team/op:v1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := host + "/team/op@" + digest; pushed != want {
		t.Errorf("pushed as %s, want %s", pushed, want)
	}
	got, err := remote.Image(reference(t, pushed), remote.WithPlatform(v1.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}))
	if err != nil {
		t.Fatal(err)
	}
	config, err := got.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	if c.User != "1:1" || strings.Join(c.Entrypoint, " ") != "/a" || c.Labels["k"] != "v" || config.Architecture != "arm" || config.Variant != "v7" || config.Created.Unix() != 7 || len(config.History) != 1 {
		t.Errorf("got %+v", config)
	}
	layers, err := got.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("got %d layers (%v), want 1", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for r := tar.NewReader(content); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.ModTime.Unix() != 7 || h.Uname != "" {
			t.Errorf("%s has the time %s and the user %q", h.Name, h.ModTime, h.Uname)
		}
		entries = append(entries, h.Name)
	}
	if strings.Join(entries, " ") != "a usr/ usr/share/ usr/share/b" {
		t.Errorf("got %v", entries)
	}
}

// TestBuildOnBase adds layers to base images of a registry.
func TestBuildOnBase(t *testing.T) {
	t.Parallel()
	host := serve(t, unguarded)
	base := twoPlatforms(t)
	if _, err := (image.Registries{}).Push(t.Context(), base, host+"/base:v1", nil); err != nil {
		t.Fatal(err)
	}
	top := []*image.Layer{layerWith(t, "top")}
	for platform, want := range map[string]string{
		"": "", "linux/amd64": "", "linux/arm/v7": "", "linux/arm64": "the base supports only linux/amd64, linux/arm/v7; pass another one with --base",
	} {
		built, err := image.Options{}.Build(t.Context(), image.Recipe{Base: host + "/base:v1", Parts: []image.Part{{Platform: platform, Layers: top}}, Labels: map[string]string{}})
		if want != "" || err != nil {
			if want == "" || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: got %v, want %q", platform, err, want)
			}
			continue
		}
		if _, err := (image.Registries{}).Push(t.Context(), built, host+"/built:v1", nil); err != nil {
			t.Fatal(err)
		}
		index, err := remote.Index(reference(t, host+"/built:v1"))
		if (platform == "") != (err == nil) {
			t.Fatalf("%q: %v", platform, err)
		}
		if platform != "" {
			continue
		}
		m, err := index.IndexManifest()
		if err != nil || len(m.Manifests) != 2 {
			t.Fatalf("%v, %v", m, err)
		}
		img, err := index.Image(m.Manifests[0].Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if len(config.RootFS.DiffIDs) != 2 || config.Config.User != "1:1" || config.Config.Labels["k"] != "v" || config.Config.Labels["org.opencontainers.image.base.name"] != host+"/base:v1" {
			t.Errorf("got %+v", config)
		}
	}
	if _, err := (image.Options{}).Build(t.Context(), image.Recipe{Base: host + "/none:v1", Parts: []image.Part{{Layers: top}}}); err == nil || !strings.Contains(err.Error(), "has no v1") {
		t.Errorf("got %v", err)
	}
}

// TestRoundTrips copies an image between layouts, tarballs and a registry, and checks that its digest does not change.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	host := serve(t, unguarded)
	dir := t.TempDir()
	disk := afero.NewOsFs()
	o := image.Options{FS: disk, Dir: dir}
	img := twoPlatforms(t)
	digest := digestOfImage(t, img)
	img.Name = "example.com/team/op:v1"
	same := func(ref string) *image.Image {
		t.Helper()
		found, err := o.Images(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != 1 || digestOfImage(t, found[0]) != digest {
			t.Fatalf("%s: got %d images, the first is %s, want %s", ref, len(found), digestOfImage(t, found[0]), digest)
		}
		return found[0]
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(image.WriteLayout(t.Context(), disk, filepath.Join(dir, "one"), []*image.Image{img}))
	must(image.WriteTarball(t.Context(), disk, filepath.Join(dir, "one.tar"), []*image.Image{same("one")}))
	_, err := o.Push(t.Context(), same("one.tar"), host+"/team/op:v1", nil)
	must(err)
	must(image.WriteLayout(t.Context(), disk, filepath.Join(dir, "back"), []*image.Image{same(host + "/team/op:v1")}))
	_, err = o.Push(t.Context(), same("back"), host+"/other:v2", nil)
	must(err)
	same(host + "/other:v2")

	// docker load reads the tarball, too.
	saved, err := tarball.ImageFromPath(filepath.Join(dir, "one.tar"), nil)
	must(err)
	config, err := saved.ConfigFile()
	must(err)
	if config.Architecture != "amd64" {
		t.Errorf("docker load would load the platform %s, want amd64", config.Architecture)
	}
	again, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return disk.Open(filepath.Join(dir, "one.tar")) })
	must(err)
	if len(again) != 1 || strings.Join(again[0].RepoTags, " ") != "example.com/team/op:v1" {
		t.Errorf("got %v", again)
	}

	// In an existing layout, the image with the same name is replaced and others are kept.
	other := build(t, nil, zipped(t, pack(t, file("x", "y"))))
	must(tarball.MultiRefWriteToFile(filepath.Join(dir, "docker.tar"), map[name.Reference]v1.Image{reference(t, "example.com/other:v1"): other}))
	docker, err := o.Images(t.Context(), "docker.tar")
	must(err)
	for range 2 {
		must(image.WriteLayout(t.Context(), disk, filepath.Join(dir, "one"), docker))
	}
	all, err := o.Images(t.Context(), "one")
	must(err)
	if len(all) != 2 || all[1].Name != "example.com/other:v1" {
		t.Errorf("got %d images, want 2", len(all))
	}
	same("one:example.com/team/op:v1")
	pushed, err := o.Push(t.Context(), docker[0], host+"/docker:v1", nil)
	must(err)
	if layers, err := remoteLayers(t, pushed); err != nil || layers != 1 {
		t.Errorf("got %d layers (%v), want 1", layers, err)
	}
	if _, err := o.Images(t.Context(), "one:example.com/no:v1"); err == nil || !strings.Contains(err.Error(), "contains no image example.com/no:v1; it contains: example.com/team/op:v1, example.com/other:v1") {
		t.Errorf("got %v", err)
	}
	must(disk.Mkdir(filepath.Join(dir, "notes"), 0o700))
	must(afero.WriteFile(disk, filepath.Join(dir, "notes", "x"), []byte("x"), 0o600))
	if err := image.WriteLayout(t.Context(), disk, filepath.Join(dir, "notes"), docker); err == nil || !strings.Contains(err.Error(), "a directory with other content") {
		t.Errorf("got %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := image.WriteTarball(ended, disk, filepath.Join(dir, "never.tar"), docker); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*never*"))
	must(err)
	temps, err := filepath.Glob(filepath.Join(dir, ".new-*"))
	must(err)
	if len(left)+len(temps) > 0 {
		t.Errorf("files remain: %v %v", left, temps)
	}
}

func remoteLayers(t *testing.T, ref string) (int, error) {
	t.Helper()
	img, err := remote.Image(reference(t, ref))
	if err != nil {
		return 0, err
	}
	layers, err := img.Layers()
	if err != nil {
		return 0, err
	}
	for _, l := range layers {
		r, err := l.Uncompressed()
		if err != nil {
			return 0, err
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return 0, err
		}
	}
	return len(layers), nil
}

// TestCopyRefused checks that damaged images and entries outside of the root are not copied.
func TestCopyRefused(t *testing.T) {
	t.Parallel()
	memory := afero.NewMemMapFs()
	o := image.Options{FS: memory, Dir: string(filepath.Separator)}
	digest := "sha256:" + strings.Repeat("0", 64)
	index := `{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","size":2,"digest":"` + digest + `"}]}`
	for name, c := range map[string]struct {
		items []item
		want  string
	}{
		"up":         {[]item{file("index.json", index), file("../evil", "x")}, `contains the entry "../evil" outside of its root directory`},
		"up inside":  {[]item{file("blobs/../../evil", "x"), file("index.json", index)}, "outside of its root directory"},
		"absolute":   {[]item{file("/etc/evil", "x"), file("manifest.json", "[]")}, "outside of its root directory"},
		"damaged":    {[]item{file("index.json", index), file("blobs/sha256/"+strings.Repeat("0", 64), "{}")}, "does not match its digest"},
		"incomplete": {[]item{file("index.json", index)}, "is missing; copy the image again"},
		"empty":      {[]item{file("index.json", `{"manifests":[]}`)}, "contains no image"},
		"none saved": {[]item{file("manifest.json", "[]")}, "contains no image"},
		"no image":   {[]item{file("a", "b")}, "is not an image: the tarball contains neither"},
	} {
		file := "/" + strings.ReplaceAll(name, " ", "-") + ".tar"
		if err := afero.WriteFile(memory, file, pack(t, c.items...), 0o600); err != nil {
			t.Fatal(err)
		}
		images, err := o.Images(t.Context(), file)
		if err == nil {
			err = image.WriteLayout(t.Context(), memory, "/out", images)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if ok, _ := afero.Exists(memory, "/out"); ok {
			t.Errorf("%s: files were written", name)
		}
	}
}

// TestPushRefused checks the errors of pushes that a registry denies, which contain no text of the registry.
func TestPushRefused(t *testing.T) {
	t.Parallel()
	guarded, tokens := serve(t, basic), serve(t, bearer)
	down := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	down.Close()
	unreachable := strings.TrimPrefix(down.URL, "http://")
	img := twoPlatforms(t)
	login := func(host, password string) image.Settings {
		return machine(t, map[string]string{"/home/me/.docker/config.json": loggedIn(host, "me", password)}, map[string]string{"HOME": "/home/me"})
	}
	for _, c := range []struct {
		name, ref string
		settings  image.Settings
		want      string
	}{
		{"password", guarded + "/team/op:v1", login(guarded, "s3cret"), ""},
		{"token", tokens + "/team/op:v1", login(tokens, "s3cret"), ""},
		{"no password", guarded + "/team/op:v1", image.Settings{}, "pushing " + guarded + "/team/op:v1: " + guarded + " denied the push (401); log in with 'docker login " + guarded + "' or 'podman login " + guarded + "' as a user who may push to team/op"},
		{"wrong password", guarded + "/team/op:v1", login(guarded, "s3cret2"), "denied the push (401)"},
		{"no token", tokens + "/team/op:v1", login(tokens, "s3cret2"), "denied the push (401)"},
		{"down", unreachable + "/op:v1", image.Settings{}, "the registry cannot be reached"},
		{"digest", guarded + "/op@sha256:" + strings.Repeat("0", 64), image.Settings{}, "must have a tag instead of a digest"},
		{"blocked", "gone.invalid/op:v1", machine(t, map[string]string{"/etc/containers/registries.conf": "[[registry]]\nlocation=\"gone.invalid\"\nblocked=true"}, nil), "is blocked by /etc/containers/registries.conf"},
		{"not to its mirror", unreachable + "/op:v1", machine(t, map[string]string{"/etc/containers/registries.conf": "[[registry]]\nprefix=\"" + unreachable + "\"\nlocation=\"" + guarded + "\"\nmirror=[{location=\"" + tokens + "\"}]"}, nil), unreachable + ": the registry cannot be reached"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			registries := image.Registries{PlainHTTP: []string{guarded, tokens}, Settings: c.settings}
			if before := registries.CheckPush(t.Context(), c.ref); c.name != "digest" && (before == nil) != (c.want == "") || before != nil && !strings.Contains(before.Error(), c.want) {
				t.Errorf("CheckPush: %v", before)
			}
			var done, all int64
			_, err := registries.Push(t.Context(), img, c.ref, func(d, a int64) { done, all = d, a })
			if c.want == "" {
				if err != nil || done != all || all == 0 {
					t.Errorf("pushed %d of %d bytes: %v", done, all, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error contains a secret: %v", err)
			}
		})
	}
}

// TestBaseLayer checks that the base layer contains readable certificates, a user, and a directory for temporary files.
func TestBaseLayer(t *testing.T) {
	t.Parallel()
	base, err := image.BaseLayer(image.NonRoot(), time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	built, err := image.Options{}.Build(t.Context(), image.Recipe{Base: image.Scratch, Labels: map[string]string{}, Parts: []image.Part{{Platform: "linux/amd64", Layers: []*image.Layer{base}}}})
	if err != nil {
		t.Fatal(err)
	}
	host := serve(t, unguarded)
	pushed, err := image.Registries{}.Push(t.Context(), built, host+"/base:v1", nil)
	if err != nil {
		t.Fatal(err)
	}
	img, err := remote.Image(reference(t, pushed))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*tar.Header{}
	for r := tar.NewReader(mutate.Extract(img)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		found[h.Name] = h
		if h.Name != "etc/ssl/certs/ca-certificates.crt" {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		if n := strings.Count(string(text), "BEGIN CERTIFICATE"); !pool.AppendCertsFromPEM(text) || n < 80 {
			t.Errorf("got %d certificates", n)
		}
	}
	if tmp := found["tmp"]; found["etc/passwd"] == nil || found["etc/ssl/certs/ca-certificates.crt"] == nil || tmp == nil || tmp.Mode&0o7777 != 0o1777 {
		t.Errorf("got %v", found)
	}
}

// TestSBOM checks that the SBOM of this test is valid SPDX, and the same each time.
func TestSBOM(t *testing.T) {
	t.Parallel()
	program, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	info, err := program.Stat()
	if err != nil {
		t.Fatal(err)
	}
	first, err := image.SBOM(program, info.Size(), "test", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	second, err := image.SBOM(program, info.Size(), "test", time.Unix(0, 0))
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("the second SBOM differs from the first one (%v)", err)
	}
	doc, err := spdxjson.Read(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if err := spdxlib.ValidateDocument(doc); err != nil {
		t.Error(err)
	}
	text := string(first)
	for _, want := range []string{`"spdxVersion": "SPDX-2.3"`, `"created": "1970-01-01T00:00:00Z"`, `"name": "stdlib"`, `"relationshipType": "DESCRIBES"`} {
		if !strings.Contains(text, want) {
			t.Errorf("SBOM lacks %s:\n%s", want, text)
		}
	}
	if _, err := image.SBOM(strings.NewReader("no program"), 10, "test", time.Unix(0, 0)); err == nil {
		t.Error("SBOM accepted a file that is not a program")
	}
}
