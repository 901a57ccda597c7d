package bundle_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// TestPin checks that every image of a bundle is resolved, pinned and listed once, and that all failures are reported.
func TestPin(t *testing.T) {
	t.Parallel()
	stream := `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: op.v0.0.0, annotations: {containerImage: "registry.example/op:1"}}
spec:
  displayName: Op
  installModes: [{type: AllNamespaces, supported: true}]
  relatedImages: [{name: more, image: "registry.example/more:1"}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: op}
spec:
  selector: {matchLabels: {app: op}}
  template:
    metadata: {labels: {app: op}}
    spec:
      initContainers: [{name: first, image: "registry.example/first:1"}]
      containers:
      - {name: manager, image: "registry.example/op:1", env: [{name: RELATED_IMAGE_POND, value: "registry.example/pond:1"}]}
      - {name: again, image: "registry.example/op:1"}
`
	objects, problems := manifest.Decode("in", []byte(stream))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	resolved := map[string]int{}
	in := bundle.Input{Package: "op", Version: "1.0.0", Layout: "unknown", Builder: "test", Objects: objects}
	in.Pin = func(ref string) (string, error) {
		resolved[ref]++
		return strings.Replace(ref, ":1", "@pinned", 1), nil
	}
	made, err := bundle.Generate(in)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := manifest.Encode(made.CSV)
	if err != nil {
		t.Fatal(err)
	}
	csv := string(encoded)
	for _, name := range []string{"op", "more", "first", "pond"} {
		if ref := "registry.example/" + name + ":1"; resolved[ref] != 1 || strings.Contains(csv, ref) || strings.Count(csv, "image: registry.example/"+name+"@pinned\n    name") != 1 {
			t.Errorf("%s was resolved %d times, or is not listed once by digest:\n%s", ref, resolved[ref], csv)
		}
	}
	for _, text := range []string{"containerImage: registry.example/op@pinned", "value: registry.example/pond@pinned"} {
		if !strings.Contains(csv, text) {
			t.Errorf("the CSV lacks %q:\n%s", text, csv)
		}
	}
	in.Pin = func(ref string) (string, error) { return "", errors.New("cannot find " + ref) }
	_, err = bundle.Generate(in)
	for _, name := range []string{"op", "more", "first", "pond"} {
		if text := "cannot find registry.example/" + name + ":1"; strings.Count(fmt.Sprint(err), text) != 1 {
			t.Errorf("the error does not contain %q once: %v", text, err)
		}
	}
}
