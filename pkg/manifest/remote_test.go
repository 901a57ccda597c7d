package manifest_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"context"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// build builds a kustomization in a new directory with files.
func build(t *testing.T, remote manifest.Remote, files map[string]string) error {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := remote.Build(t.Context(), dir, ".", nil)
	return err
}

// TestRemoteRefused expects every field of a kustomization, at any depth, to be checked for references to other machines.
func TestRemoteRefused(t *testing.T) {
	t.Parallel()
	const url = "https://example.invalid/a.yaml"
	for name, kustomization := range map[string]string{
		"resource":          "resources: [" + url + "]",
		"upper case":        "resources: [HTTPS://example.invalid/a.yaml]",
		"binary":            "resources: [!!binary aHR0cHM6Ly9leGFtcGxlLmludmFsaWQvYS55YW1s]",
		"alias":             "commonAnnotations: {a: &u '" + url + "'}\nresources: [*u]",
		"merge":             "commonAnnotations: &m {path: '" + url + "'}\npatches: [{<<: *m}]",
		"base":              "bases: [github.com/example/repo]",
		"component":         "components: ['git@example.invalid:a/b.git']",
		"host":              "resources: ['example.invalid:a/b']",
		"git":               "resources: ['git::https://example.invalid/a']",
		"branch":            "resources: ['example.invalid/a//b?ref=main']",
		"file":              "resources: ['file:///n.git//x?ref=--upload-pack=touch%20/tmp/OWNED']",
		"program":           "resources: ['ext::sh -c id']",
		"patch":             "patches: [{path: '" + url + "'}]",
		"strategic":         "patchesStrategicMerge: ['" + url + "']",
		"JSON patch":        "patchesJson6902: [{target: {kind: A, version: v1, name: a}, path: '" + url + "'}]",
		"replacement":       "replacements: [{path: '" + url + "'}]",
		"config map":        "configMapGenerator: [{name: a, files: ['a=" + url + "']}]",
		"variables":         "secretGenerator: [{name: a, envs: ['" + url + "']}]",
		"CRD":               "crds: ['" + url + "']",
		"configuration":     "configurations: ['" + url + "']",
		"OpenAPI":           "openapi: {path: '" + url + "'}",
		"generator":         "generators: ['" + url + "']",
		"inline generator":  "generators:\n- |-\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: a}\n  name: a\n  files: ['" + url + "']",
		"JSON generator":    `generators: ['{"apiVersion":"builtin","kind":"ConfigMapGenerator","metadata":{"name":"a"},"name":"a","files":["` + url + `"]}']`,
		"chart":             "helmCharts: [{name: a, repo: 'https://example.invalid'}]",
		"below":             "resources: [below]",
		"generator in file": "generators: [generator.yaml]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := build(t, manifest.RefuseRemote, map[string]string{
				"kustomization.yaml":  kustomization,
				"below/Kustomization": "resources: [" + url + "]",
				"generator.yaml":      "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nname: a\nfiles: ['a=" + url + "']\n",
			})
			if refused, ok := errors.AsType[*manifest.RemoteError](err); !ok {
				t.Errorf("got %v, want a *RemoteError", err)
			} else if name == "below" && refused.File != "below/Kustomization" || !strings.Contains(err.Error(), refused.Reference) {
				t.Errorf("got %v for %s", err, refused.File)
			}
		})
	}
}

// TestLocalAllowed expects values that only look like references to be left alone.
func TestLocalAllowed(t *testing.T) {
	t.Parallel()
	err := build(t, manifest.RefuseRemote, map[string]string{
		"kustomization.yaml": `resources: [a.yaml]
commonAnnotations: {docs: "https://example.invalid/docs?a=-b"}
images: [{name: controller, newName: "example.invalid:5000/a/b", newTag: v1}]
configMapGenerator: [{name: b, literals: ["url=https://example.invalid/-x"]}]
patches:
- target: {kind: ConfigMap}
  patch: |-
    - {op: add, path: /data/url, value: "https://example.invalid"}
patchesStrategicMerge:
- |-
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: a}
  data: {other: "git@example.invalid:a/b"}
`,
		"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {builtin: 'https://example.invalid', x: y}\n",
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRemoteOptions expects references that git could mistake for options, and transports without protection, to be refused even if
// other machines are allowed.
func TestRemoteOptions(t *testing.T) {
	t.Parallel()
	for _, reference := range []string{
		"https://example.invalid/a?ref=--upload-pack=touch%20/tmp/OWNED", "https://example.invalid/a?ref=%2D-upload-pack=x", "https://example.invalid/a?ref=%252D-upload-pack=x",
		"https://example.invalid/a?version=-x", "https://-oProxyCommand=x/a", "ssh://-oProxyCommand=x/a", "ssh://-x@example.invalid/a", "git@-x:a/b", "-x@example.invalid:a",
		"git::https://example.invalid/a?timeout=1&ref=-x", "file:///n.git//x", "http://example.invalid/a.yaml", "git://example.invalid/a", "ext::sh -c id", "git::ext::sh",
		"git::file:///a", "https://example.invalid/a\tb", "github.com/a/b?ref=-x", "FILE:///n.git", "https://example.invalid/a?ref=+-x",
	} {
		err := build(t, manifest.AllowRemote, map[string]string{"kustomization.yaml": fmt.Sprintf("resources: [%q]\n", reference)})
		if refused, ok := errors.AsType[*manifest.RemoteError](err); !ok || refused.Problem == "" {
			t.Errorf("%s: got %v, want a *RemoteError", reference, err)
		}
	}
}

// TestRemoteEnds expects a build that waits for another machine to end with its context.
func TestRemoteEnds(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	connected := make(chan struct{})
	go func() { // never answers
		if connection, err := listener.Accept(); err == nil {
			close(connected)
			_, _ = io.Copy(io.Discard, connection)
		}
	}()
	dir := t.TempDir()
	kustomization := "resources: ['https://" + listener.Addr().String() + "/a.yaml']\n"
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(context.Context) error{
		"build": func(ctx context.Context) error { _, err := manifest.AllowRemote.Build(ctx, dir, ".", nil); return err },
		"kustomize": func(ctx context.Context) error {
			return manifest.Kustomize(ctx, manifest.AllowRemote, dir, []string{"build"}, io.Discard, io.Discard)
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		go func() {
			<-connected
			cancel()
		}()
		if err := run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
		cancel()
	}
	if err := manifest.Kustomize(t.Context(), manifest.RefuseRemote, dir, []string{"build"}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "is on another machine") {
		t.Errorf("got %v", err)
	}
}
