package scorecard

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
)

// FuzzBuiltIns holds that the built-in tests have a result for whatever a bundle holds.
func FuzzBuiltIns(f *testing.F) {
	files := func(parts ...string) []byte {
		data, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "testdata", "cases", "validate", "01-good", "bundle"}, parts...)...))
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	csv, crd := files("manifests", "otter-operator.clusterserviceversion.yaml"), files("manifests", "sea.otters.example_otters.yaml")
	annotations := files("metadata", "annotations.yaml")
	f.Add(csv, crd, annotations, []byte("dependencies:\n- type: olm.package\n  value: {packageName: a, version: 1.0.0}\n"))
	f.Add([]byte("kind: ClusterServiceVersion\nmetadata: {annotations: {alm-examples: '[{\"kind\":\"A\",\"spec\":[],\"status\":1}]'}}"),
		[]byte("apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nspec: {versions: [{name: v1}]}"), []byte("annotations: {}"), []byte("dependencies: [{type: olm.gvk}]"))
	f.Fuzz(func(t *testing.T, csv, crd, annotations, dependencies []byte) {
		b := Bundle{Name: "bundle", FS: fstest.MapFS{
			"manifests/csv.yaml": {Data: csv}, "manifests/crd.yaml": {Data: crd},
			"metadata/annotations.yaml": {Data: annotations}, "metadata/dependencies.yaml": {Data: dependencies},
		}}
		for _, name := range BuiltIns() {
			status := BuiltIn(b, name)
			if len(status.Results) != 1 || status.Results[0].Name != name || status.Results[0].State == "" {
				t.Errorf("%s: %+v", name, status)
			}
			if r := status.Results[0]; r.State != v1alpha3.PassState && len(r.Errors) == 0 && len(r.Suggestions) == 0 && r.Log == "" {
				t.Errorf("%s does not say why", name)
			}
		}
		_, _ = ConfigPath(b.FS)
		_, _, _ = ParseConfig(annotations)
	})
}
