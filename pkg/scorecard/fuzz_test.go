package scorecard

import (
	"testing"
	"testing/fstest"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
)

// FuzzBuiltIns checks that the built-in tests have a result for whatever a bundle contains.
func FuzzBuiltIns(f *testing.F) {
	f.Add([]byte("kind: ClusterServiceVersion\napiVersion: operators.coreos.com/v1alpha1\nmetadata: {name: a.v1.0.0, annotations: {alm-examples: '[{\"apiVersion\":\"a/v1\",\"kind\":\"A\",\"spec\":{\"b\":1},\"status\":{\"c\":1}}]'}}\n"+
		"spec: {version: 1.0.0, customresourcedefinitions: {owned: [{kind: A, name: as.a, version: v1, resources: [{kind: Pod}], specDescriptors: [{path: b}]}]}}"),
		[]byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.a}\nspec: {group: a, names: {kind: A, plural: as}, versions: [{name: v1, schema: {openAPIV3Schema: {properties: {spec: {properties: {b: {}}}}}}}]}"),
		[]byte("annotations: {operators.operatorframework.io.bundle.mediatype.v1: registry+v1}"), []byte("dependencies:\n- type: olm.package\n  value: {packageName: a, version: 1.0.0}\n"))
	f.Add([]byte("kind: ClusterServiceVersion\nmetadata: {annotations: {alm-examples: '[{\"kind\":\"A\",\"spec\":[],\"status\":1}]'}}"),
		[]byte("apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nspec: {versions: [{name: v1}]}"), []byte("annotations: {}"), []byte("dependencies: [{type: olm.gvk}]"))
	f.Fuzz(func(t *testing.T, csv, crd, annotations, dependencies []byte) {
		b := Bundle{Name: "bundle", FS: fstest.MapFS{
			"manifests/csv.yaml": {Data: csv}, "manifests/crd.yaml": {Data: crd},
			"metadata/annotations.yaml": {Data: annotations}, "metadata/dependencies.yaml": {Data: dependencies},
		}}
		l := read(b)
		for _, c := range checks() {
			name, r := c.name, c.result(l)
			if r.Name != name || r.State == "" {
				t.Errorf("%s: %+v", name, r)
			}
			if r.State != v1alpha3.PassState && len(r.Errors) == 0 && len(r.Suggestions) == 0 && r.Log == "" {
				t.Errorf("%s does not report why", name)
			}
		}
		_, _ = configPath(b.FS)
		_ = new(Config).parse(annotations)
	})
}
