package codegen

import (
	"context"
	"os"
	"strings"
	"testing"
)

// TestRefusedSchemas writes types whose CRD an API server refuses. The findings are at the fields, and at those that refer to types of other
// modules.
func TestRefusedSchemas(t *testing.T) {
	t.Parallel()
	const file = "api/v1/thing_types.go"
	for name, test := range map[string]struct {
		fields, types, want string
	}{
		"structure": {
			"A []*T `json:\"a\"`\n\t// +listType=map\n\t// +listMapKey=c\n\tB []V `json:\"b\"`",
			"type T struct{ U `json:\",inline\"` }\ntype U struct {\n\t// +kubebuilder:validation:Pattern=`(`\n\tB string `json:\"b\"`\n}\ntype V struct{ B string `json:\"b\"` }",
			`14:2: an API server refuses the CRD: spec.b: x-kubernetes-list-map-keys: Invalid value: entries must all be names of item properties; correct the type or its markers
29:2: an API server refuses the CRD: spec.a.b: pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): ` + "`(`; correct the type or its markers",
		},
		"values": { // the default of T is an error once, and the default of D valid
			"// +kubebuilder:default=07\n\tA string `json:\"a\"`\n\t// +kubebuilder:default=c\n\tB E `json:\"b\"`\n\t// +kubebuilder:default={}\n\tC R `json:\"c\"`\n" +
				"\t// +kubebuilder:default={b: x}\n\tD R `json:\"d\"`\n\tF T `json:\"f\"`\n\tG map[string]T `json:\"g\"`",
			"// +kubebuilder:validation:Enum=a;b\ntype E string\ntype R struct{ B string `json:\"b\"` }\ntype T struct {\n\t// +kubebuilder:default=1\n\tB string `json:\"b\"`\n}",
			`12:2: an API server refuses the CRD: spec.a: default: Invalid value: "integer": must be of type string: "integer"; correct the type or its markers
14:2: an API server refuses the CRD: spec.b: default: Unsupported value: "c": supported values: "a", "b"; correct the type or its markers
16:2: an API server refuses the CRD: spec.c: default.b: Required value; correct the type or its markers
37:2: an API server refuses the CRD: spec.f.b: default: Invalid value: "integer": must be of type string: "integer"; correct the type or its markers`,
		},
		"rules": {
			"// +kubebuilder:validation:XValidation:rule=\"self.c\"\n\tA V `json:\"a\"`\n\t// +kubebuilder:validation:XValidation:rule=\"self.all(x, self.all(y, self.all(z, x == z)))\"\n\tB []string `json:\"b\"`",
			"type V struct{ B string `json:\"b\"` }",
			`12:2: an API server refuses the CRD: spec.a: x-kubernetes-validations[0].rule: Invalid value: compilation failed: ERROR: <input>:1:5: undefined field 'c' | self.c | ....^; correct the type or its markers
14:2: an API server refuses the CRD: spec.b: x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema; correct the type or its markers
14:2: an API server refuses the CRD: spec.b: x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared); correct the type or its markers
20:6: an API server refuses the CRD: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared); correct the type or its markers`,
		},
		"other module": {
			"A outside.T `json:\"a\"`", "",
			`WARNING 11:2: an API server refuses the CRD: spec.a.b: default: Invalid value: "integer": must be of type string: "integer"; the type comes from another module: correct the CRD with a patch in config/crd/kustomization.yaml`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := withKind(t)
			write(t, dir, "go.mod", read(t, dir, "go.mod")+"\nrequire example.com/outside v0.0.0\nreplace example.com/outside => ../outside\n")
			write(t, dir, "../outside/go.mod", "module example.com/outside\n\ngo 1.24\n")
			write(t, dir, "../outside/t.go", "package outside\n\n// T is a type.\ntype T struct {\n\t// +kubebuilder:default=1\n\tB string `json:\"b\"`\n}\n")
			edit(t, dir, file, "import metav1", "import \"example.com/outside\"\nimport metav1")
			edit(t, dir, file, "// +kubebuilder:validation:Minimum=1\n\tSize int `json:\"size\"`", test.fields)
			write(t, dir, file, read(t, dir, file)+"\n"+test.types+"\n\nvar _ outside.T\n")
			result, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir})
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				for _, warning := range result.Warnings {
					got += "WARNING " + warning.Error()
				}
			}
			if got = strings.ReplaceAll(got, file+":", ""); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
