package operatorchart

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// awkward returns the options for the manifests in testdata/awkward.yaml.
func awkward(t *testing.T) Options {
	t.Helper()
	text, err := os.ReadFile("testdata/awkward.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, problems := manifest.Decode("awkward.yaml", text)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return Options{Name: "green", Objects: objects}
}

// TestAwkward checks that a chart of awkward manifests equals them, and that another release changes references and nothing else.
func TestAwkward(t *testing.T) {
	o := awkward(t)
	chart, err := Make(o)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := render(chart.Files, nil, "green", "green")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range o.Objects {
		if want.Kind() == "Namespace" {
			continue
		}
		got := rendered[want.String()]
		equalize(got)
		if !reflect.DeepEqual(got.Fields, want.Fields) {
			t.Errorf("%s differs:\n%s", want, difference(t, want, got))
		}
	}
	other, err := render(chart.Files, nil, "x", "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, was := range o.Objects {
		name := strings.ReplaceAll(strings.ReplaceAll(was.String(), " green/", " elsewhere/"), "green-", "x-green-")
		now, ok := other[name]
		if was.Kind() == "Namespace" {
			continue
		}
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		fmt.Fprintf(&text, "%s:\n%s", was, difference(t, was, now))
	}
	compare(t, "testdata/awkward.txt", text.String())
}

// TestAwkwardSwitches checks that no switch renders an object twice, or a mount without its volume.
func TestAwkwardSwitches(t *testing.T) {
	chart, err := Make(awkward(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range []map[string]any{
		{"rbac": map[string]any{"namespaced": true}}, {"metrics": map[string]any{"enabled": false}}, {"webhook": map[string]any{"enabled": false}},
	} {
		rendered, err := render(chart.Files, values, "green", "green")
		if err != nil {
			t.Errorf("%v: %v", values, err)
			continue
		}
		deployment := rendered["Deployment green/green-manager"]
		volumes := map[any]bool{}
		for _, v := range listAt(deployment.Fields, "spec", "template", "spec", "volumes") {
			volumes[valueAt(v, "name")] = true
		}
		for _, c := range containers(deployment) {
			for _, m := range listAt(c, "volumeMounts") {
				if !volumes[valueAt(m, "name")] {
					t.Errorf("%v: %v mounts %v, which is no volume", values, c["name"], valueAt(m, "name"))
				}
			}
		}
	}
}
