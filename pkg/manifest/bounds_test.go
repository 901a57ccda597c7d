package manifest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// TestBuildBounds checks that the files of a kustomization are bounded, on the disk and in an overlay,
// also where kustomize would go on without the file.
func TestBuildBounds(t *testing.T) {
	t.Parallel()
	deep := configMap("a") + "data: " + strings.Repeat("[", safeyaml.MaxDepth+1)
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"manifest":      {map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": deep}, "a.yaml:5: is nested more than"},
		"kustomization": {map[string]string{"kustomization.yaml": "resources: [" + strings.Repeat("[", safeyaml.MaxDepth)}, "kustomization.yaml:1: is nested more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, over := t.TempDir(), map[string][]byte{}
			write(t, dir, test.files)
			_, err := manifest.Build(dir, ".")
			if _, ok := errors.AsType[*safeyaml.Error](err); !ok || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("on the disk: %v; want %s", err, test.want)
			}
			for name, text := range test.files {
				over[name] = []byte(text)
			}
			_, err = manifest.RefuseRemote.Build(t.Context(), t.TempDir(), ".", over)
			if _, ok := errors.AsType[*safeyaml.Error](err); !ok || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("in an overlay: %v; want %s", err, test.want)
			}
		})
	}
}
