package codegen

import (
	"context"
	"os"
	"testing"
)

// TestNamesAndRecursion generates types whose fields Go and the schema name differently, and types that contain themselves: each is correct, or
// leads to one finding per field. Some made controller-tools recurse without end.
func TestNamesAndRecursion(t *testing.T) {
	t.Parallel()
	const file = "api/v1/thing_types.go"
	const noName = " has no name in its JSON tag: Go encodes it as "
	const noNameEnd = ", but the schema has its content without that name; write a name in its tag, such as "
	for name, test := range map[string]struct{ fields, types, want string }{
		"equal": {"A int `json:\"a\"`\n\tB string `json:\"a\"`", "", "WARNING 11:2: field B of ThingSpec has the JSON name a of A, so that Go reads and writes neither; give them different names"},
		"hidden with another type": {
			"E `json:\",inline\"`\n\tA string `json:\"a\"`", "type E struct{ A int `json:\"a\"` }",
			"10:2: field E.A of ThingSpec has the JSON name a of A, but another type; give them different names, or the same type",
		},
		"hidden with the same type": {"E `json:\",inline\"`\n\tA int `json:\"a\"`", "type E struct{ A int `json:\"a\"` }", ""},
		"in two structs": {
			"E `json:\",inline\"`\n\tF[int] `json:\",inline\"`", "type E struct{ A int `json:\"a\"` }\n\ntype F[T any] struct{ A T `json:\"a\"` }",
			"WARNING 11:2: field F.A of ThingSpec has the JSON name a of E.A, so that Go reads and writes neither; give them different names",
		},
		"unexported":      {"a []int `json:\"a\"`", "", "WARNING 10:2: field a of ThingSpec is not exported, so that Go neither reads nor writes it, though the schema has it; export it, or give it the tag `json:\"-\"`"},
		"inline map":      {"A map[string]string `json:\",inline\"`", "", "WARNING 10:2: field A of ThingSpec" + noName + "A" + noNameEnd + "`json:\"a\"`"},
		"embedded string": {"S `json:\",inline\"`", "type S string", "10:2: field S of ThingSpec" + noName + "S" + noNameEnd + "`json:\"s\"`"},
		"no name":         {"Size int `json:\",omitempty\"`", "", "10:2: field Size of ThingSpec" + noName + "Size" + noNameEnd + "`json:\"size,omitempty\"`"},
		"embedded":        {"*E `json:\",inline\"`\n\tf `json:\",inline\"`", "type E struct{ A int `json:\"a\"` }\n\ntype f struct{ B []int `json:\"b\"` }", ""},
		"without a qualifier": {
			"A Time `json:\"a\"`\n\tB ResourceVersionMatch `json:\"b\"`", "", "",
		},
		"aliases": {"A B `json:\"a\"`\n\tD []E `json:\"d\"`", "type B = C\n\ntype C = []string\n\ntype E = *F\n\ntype F struct{ A []int `json:\"a\"` }", ""},
		"constraint": {
			"A G[int] `json:\"a\"`", "// N limits G.\ntype N interface{ ~int | ~string }\n\ntype G[T N] struct{ A T `json:\"a\"` }", "",
		},
		"recursive struct":  {"T *T `json:\"t\"`", "type T struct{ A []T `json:\"a\"` }", "22:16: an API server refuses the CRD: spec.t.a: items.type: Required value: must not be empty for specified array items; correct the type or its markers"},
		"recursive list":    {"T R `json:\"t\"`", "type R []R", "10:2: an API server refuses the CRD: spec.t: items.items: Required value: must be specified; correct the type or its markers"},
		"recursive map":     {"T R `json:\"t\"`", "type R map[string]R", ""},
		"recursive generic": {"T R[int] `json:\"t\"`", "type R[T any] struct{ A []R[T] `json:\"a\"` }", "22:23: an API server refuses the CRD: spec.t.a: items.type: Required value: must not be empty for specified array items; correct the type or its markers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := withKind(t)
			edit(t, dir, file, "// +kubebuilder:validation:Minimum=1\n\tSize int `json:\"size\"`", test.fields)
			write(t, dir, file, read(t, dir, file)+"\n"+test.types+"\n")
			if name == "without a qualifier" {
				edit(t, dir, file, "import metav1", "import . \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\nimport metav1")
			}
			result, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir})
			if got := outcome(result, err, file); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
