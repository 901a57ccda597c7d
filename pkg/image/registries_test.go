package image_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/operon-sdk/operon/pkg/image"
)

// push pushes a random image and returns its digest.
func push(t *testing.T, ref string) string {
	t.Helper()
	img, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	host, rest, _ := strings.Cut(ref, "/")
	repository, tag, _ := strings.Cut(rest, ":")
	server, err := name.NewRegistry(host)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(server.Repo(repository).Tag(tag), img); err != nil {
		t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

func TestDigest(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	want, letter := push(t, host+"/team/op:1"), push(t, host+"/x:1")
	for _, c := range []struct {
		name, ref string
		with      image.Registries
		want      string
		wantErr   string
	}{
		{"tag", host + "/team/op:1", image.Registries{}, want, ""},
		{"digest", "example.com/op@" + want, image.Registries{}, want, ""},
		{"mirror", "registry.invalid/team/op:1", image.Registries{Mirrors: map[string]string{"registry.invalid": host}}, want, ""},
		{"one letter", host + "/x:1", image.Registries{}, letter, ""},
		{"one letter, digest", host + "/x@" + letter, image.Registries{}, letter, ""},
		{"one letter, mirror", "registry.invalid/x:1", image.Registries{Mirrors: map[string]string{"registry.invalid": host}}, letter, ""},
		{"not there", host + "/team/op:2", image.Registries{}, "", "has no 2; push the image first"},
		{"no reference", "Op:1:2", image.Registries{}, "", "image Op:1:2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.with.Digest(t.Context(), c.ref)
			if got != c.want || (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("got %q, %v; want %q, %q", got, err, c.want, c.wantErr)
			}
		})
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := (image.Registries{}).Digest(ended, host+"/team/op:1"); !errors.Is(err, context.Canceled) || errors.Is(err, image.ErrUnreachable) {
		t.Errorf("Digest with an ended context = %v, want its cause", err)
	}
	server.Close()
	if _, err := (image.Registries{}).Digest(t.Context(), host+"/team/op:1"); !errors.Is(err, image.ErrUnreachable) {
		t.Errorf("Digest without a registry = %v, want ErrUnreachable", err)
	}
}

func TestWithDigest(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"op":                        "op@sha256:0",
		"op:1":                      "op@sha256:0",
		"localhost:5000/op":         "localhost:5000/op@sha256:0",
		"localhost:5000/team/op:v1": "localhost:5000/team/op@sha256:0",
		"op:1@sha256:1":             "op@sha256:0",
	} {
		if got := image.WithDigest(ref, "sha256:0"); got != want {
			t.Errorf("%s: got %s, want %s", ref, got, want)
		}
	}
}

// TestCheckName accepts names with one letter, which the grammar allows but the library denies.
func TestCheckName(t *testing.T) {
	t.Parallel()
	for ref, valid := range map[string]bool{
		"x": true, "x:v1": true, "quay.io/x": true, "localhost:5000/x:v1": true, "x/y": true, "quay.io/x/y:v1": true, "xx": true,
		"": false, "X": false, "/x": false, "x:": false, "quay.io/": false, "-": false, "quay.io/x@sha256:1": false,
	} {
		if err := image.CheckName(ref); (err == nil) != valid {
			t.Errorf("%q: %v", ref, err)
		}
	}
}
