package image_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/image"
)

// FuzzLayer reads a valid layer and a layer of arbitrary bytes.
func FuzzLayer(f *testing.F) {
	f.Add([]byte("x"))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0})
	f.Add(pack(f, file("manifests/a", ""))[:512])
	below := pack(f, both()...)
	f.Fuzz(func(t *testing.T, data []byte) { openLayers(t, below, data) })
}

// FuzzEntries reads layers of arbitrary entries, one per line: a kind, a name, and a target or content.
func FuzzEntries(f *testing.F) {
	f.Add("0manifests/b>b")
	f.Add("0../x>\n0/y>")
	f.Add("2manifests/l>a.yaml\n1manifests/h>manifests/a.yaml")
	f.Add("2m>manifests\n0m/x>")
	f.Add("0manifests/.wh.a.yaml>\n0.wh..wh..opq>")
	f.Add("5manifests/a.yaml>\n-0manifests/a.yaml/b>")
	f.Add("-\n-2manifests>metadata\n-0manifests/x>")
	below := pack(f, both()...)
	f.Fuzz(func(t *testing.T, text string) {
		layers := [][]byte{below}
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		for line := range strings.SplitSeq(text, "\n") {
			if rest, ok := strings.CutPrefix(line, "-"); ok { // the next layer
				layers = append(layers, bytes.Clone(out.Bytes()))
				out.Reset()
				w = tar.NewWriter(&out)
				line = rest
			}
			if line == "" {
				continue
			}
			name, target, _ := strings.Cut(line[1:], ">")
			h := &tar.Header{Typeflag: line[0], Name: name, Linkname: target, Format: tar.FormatGNU}
			if h.Typeflag == tar.TypeReg {
				h.Size, h.Linkname = int64(len(target)), ""
			}
			if err := w.WriteHeader(h); err != nil {
				continue
			}
			if h.Typeflag == tar.TypeReg {
				if _, err := io.WriteString(w, target); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		openLayers(t, append(layers, out.Bytes())...)
	})
}

// openLayers opens an image of docker save, and checks the invariants of opened bundles.
func openLayers(t *testing.T, layers ...[]byte) {
	t.Helper()
	if len(layers) > 20 {
		return
	}
	var digests, names []string
	var items []item
	for i, layer := range layers {
		name := strings.Repeat("l", i+1)
		names, digests = append(names, `"`+name+`"`), append(digests, `"`+digestOf(layer)+`"`)
		items = append(items, file(name, string(layer)))
	}
	config := `{"config":{"Labels":{"operators.operatorframework.io.bundle.manifests.v1":"manifests/","operators.operatorframework.io.bundle.metadata.v1":"metadata/"}},"rootfs":{"type":"layers","diff_ids":[` + strings.Join(digests, ",") + `]}}`
	items = append(items, file("c", config), file("manifest.json", `[{"Config":"c","Layers":[`+strings.Join(names, ",")+`]}]`))
	memory := afero.NewMemMapFs()
	if err := afero.WriteFile(memory, "/x.tar", pack(t, items...), 0o600); err != nil {
		t.Fatal(err)
	}
	limits := image.Limits{Entries: 200, File: 1 << 16, Bundle: 1 << 18, Total: 1 << 20}
	b, err := image.Open(t.Context(), "/x.tar", image.Options{FS: memory, Limits: limits})
	if err != nil {
		if len(err.Error()) > 4000 {
			t.Errorf("error has %d bytes", len(err.Error()))
		}
		return
	}
	var size int64
	err = fs.WalkDir(b.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		top, _, _ := strings.Cut(name, "/")
		if !fs.ValidPath(name) || top != "." && top != "manifests" && top != "metadata" && top != "tests" {
			t.Errorf("bundle contains %q", name)
		}
		if d.IsDir() {
			return nil
		}
		if !d.Type().IsRegular() {
			t.Errorf("%q has type %s", name, d.Type())
		}
		data, err := fs.ReadFile(b.FS, name)
		size += int64(len(data))
		return err
	})
	if err != nil || size > limits.Bundle {
		t.Errorf("bundle has %d bytes (%v)", size, err)
	}
}

// FuzzSettings reads credentials files and registries.conf of arbitrary bytes. Errors must not contain secrets.
func FuzzSettings(f *testing.F) {
	f.Add("[[registry]]\nprefix = \"*.gone.invalid\"\nblocked = true\n", `{"auths":{"gone.invalid":{"auth":"c2VjcmV0OnNlY3JldA=="}}}`)
	f.Add("[[registry]]\nlocation = \"gone.invalid\"\nmirror = [{location = \"other.invalid\"}]\n", `{"auths":{"gone.invalid/team":{"auth":"c2VjcmV0OnNlY3JldA="}},"credHelpers":{}}`)
	f.Add("[registries]\n", "[]")
	f.Fuzz(func(t *testing.T, conf, auth string) {
		if strings.Contains(auth, "cred") {
			t.Skip("the configuration may name credential helpers, which are programs")
		}
		settings := machine(t, map[string]string{"/etc/containers/registries.conf": conf, "/home/me/.docker/config.json": auth}, map[string]string{"HOME": "/home/me"})
		_, err := image.Registries{Settings: settings, Transport: offline{}}.Digest(t.Context(), "eu.gone.invalid/team/op:v1")
		if err == nil {
			t.Error("Digest succeeded without a registry")
		} else if strings.Contains(err.Error(), "c2VjcmV0") {
			t.Errorf("error contains a secret: %v", err)
		}
	})
}

// offline is a network without servers.
type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no network") }
