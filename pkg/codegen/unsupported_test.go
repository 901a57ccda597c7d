package codegen

import (
	"context"
	"os"
	"strings"
	"testing"
)

// TestUnsupportedTypes expects causes and fixes for types that controller-gen does not support, and that the fix for generic types works.
func TestUnsupportedTypes(t *testing.T) {
	t.Parallel()
	const file = "api/v1/thing_types.go"
	const generic = "declare a type without parameters for each use; or write +kubebuilder:object:generate=false above the generic type and its method DeepCopyInto by hand, " +
		"and +kubebuilder:validation:Schemaless and +kubebuilder:pruning:PreserveUnknownFields above its fields in kinds"
	for name, test := range map[string]struct{ fields, types, want string }{
		"fields": {
			"A Alias `json:\"a\"`\n\tG[string]\n\tH []G[int] `json:\"h\"`\n\tNoTag string\n\tF func() `json:\"f\"`",
			"type Alias = map[string]V\n\ntype V struct{ B string `json:\"b\"` }\n\n// G is generic.\ntype G[T any] struct {\n\tA T `json:\"a\"`\n\tB []T `json:\"b\"`\n}",
			"10:4: no schema can be generated for Alias, an alias of a map; declare a type instead of an alias: remove the equals sign in type Alias =\n" +
				"11:2: the struct that is embedded in ThingSpec has no JSON tag; write `json:\",inline\"` behind it, so that its fields become fields of ThingSpec\n" +
				"12:6: no schema can be generated for a generic type; " + generic + "\n" +
				"13:2: field NoTag of ThingSpec has no JSON tag; write `json:\"noTag\"` behind it, or `json:\"-\"` to leave it out\n" +
				"14:2: DeepCopy methods cannot be generated for a value of type func(); use another type, such as apiextensionsv1.JSON for any value, or write +kubebuilder:object:generate=false above the struct and its method DeepCopyInto by hand\n" +
				"14:4: no schema can be generated for a function or channel, which JSON cannot contain; remove the field, or exclude it with the tag `json:\"-\"` and +kubebuilder:object:generate=false above its type\n" +
				"31:6: DeepCopy methods cannot be generated for the generic type G; " + generic,
		},
		"alias of a struct": {
			"A *V `json:\"a\"`", "type V = struct{ B string `json:\"b\"` }",
			"10:5: V is an alias of a struct without a name, which can have no DeepCopy methods; declare a type instead of an alias: remove the equals sign in type V =\n" +
				"10:5: no schema can be generated for V, an alias of a struct; declare a type instead of an alias: remove the equals sign in type V =",
		},
		"string in tags": {
			"A int `json:\"a,string\"`\n\tB *V `json:\"b,string,omitempty\"`\n\tC []W `json:\"c\"`\n\tD string `json:\"d,string\"`\n\t// +kubebuilder:validation:Type=string\n\tE int `json:\"e,string\"`",
			"type V bool\n\ntype W struct {\n\tA uint8 `json:\"a,string\"`\n}\n\ntype Unused struct {\n\tA uint8 `json:\"a,string\"`\n}",
			"WARNING 10:2: Go encodes A as a string because of its JSON tag, but its schema is that of type integer, so that no API server accepts it; remove string from the tag, or write the marker +kubebuilder:validation:Type=string\n" +
				"WARNING 11:2: Go encodes B as a string because of its JSON tag, but its schema is that of type boolean, so that no API server accepts it; remove string from the tag, or write the marker +kubebuilder:validation:Type=string\n" +
				"WARNING 30:2: Go encodes A as a string because of its JSON tag, but its schema is that of type integer, so that no API server accepts it; remove string from the tag, or write the marker +kubebuilder:validation:Type=string",
		},
		"generic type with own methods": {
			"// +kubebuilder:validation:Schemaless\n\t// +kubebuilder:pruning:PreserveUnknownFields\n\tA G[string] `json:\"a\"`",
			"// +kubebuilder:object:generate=false\ntype G[T any] struct{ B []T `json:\"b\"` }\n\nfunc (in *G[T]) DeepCopyInto(out *G[T]) { *out = *in }", "",
		},
		"array": {
			"A [3]int `json:\"a\"`", "", "10:2: DeepCopy methods cannot be generated for a value of type [3]int; use a slice, with the markers +kubebuilder:validation:MinItems and MaxItems",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := withKind(t)
			edit(t, dir, file, "// +kubebuilder:validation:Minimum=1\n\tSize int `json:\"size\"`", test.fields)
			write(t, dir, file, read(t, dir, file)+"\n"+test.types+"\n")
			result, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir})
			var got []string
			if err != nil {
				got = append(got, err.Error())
			} else {
				for _, warning := range result.Warnings {
					got = append(got, "WARNING "+warning.Error())
				}
			}
			if text := strings.ReplaceAll(strings.Join(got, "\n"), file+":", ""); text != test.want {
				t.Errorf("got\n%s\nwant\n%s", text, test.want)
			}
		})
	}
}
