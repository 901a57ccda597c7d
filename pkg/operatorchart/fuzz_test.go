package operatorchart

import (
	"os"
	"testing"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// FuzzMake makes charts of any manifests, which can come with a clone.
func FuzzMake(f *testing.F) {
	text, err := os.ReadFile("testdata/awkward.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: [1]}}}\n"))
	f.Add([]byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: [{args: x, env: {a: 1}, ports: [1]}], volumes: 1}}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		objects, problems := manifest.Decode("fuzz.yaml", text)
		if problems != nil {
			return
		}
		chart, err := Make(Options{Name: "fuzz", Objects: objects})
		if err != nil {
			return
		}
		if _, err := chart.Continue(Files{valuesFile: text, helpersFile: text, "Chart.yaml": text, "templates/x.yaml": text}); err != nil {
			return
		}
		if findings := chart.Check("chart", chart.Files); findings != nil {
			t.Errorf("the generated chart is wrong: %v", findings)
		}
	})
}
