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
	const removed = "remove the field; or give it the tag `json:\"-\"`, and write +kubebuilder:object:generate=false above its struct and the method DeepCopyInto by hand"
	const anyValue = "the content of an interface is not defined, so that it can have neither a schema nor DeepCopy methods; " +
		"use a type whose content is defined, such as string or metav1.Condition, or apiextensionsv1.JSON for any value"
	const noText = "use string, or a type that is defined as string"
	for name, test := range map[string]struct{ fields, types, want string }{
		"tags": {
			"G[string]\n\tNoTag string", "// G is generic.\ntype G[T any] struct {\n\tA T `json:\"a\"`\n\tNoTag []T\n}",
			"10:2: the struct that is embedded in ThingSpec has no JSON tag; write `json:\",inline\"` behind it, so that its fields become fields of ThingSpec\n" +
				"11:2: field NoTag of ThingSpec has no JSON tag; write `json:\"noTag\"` behind it, or `json:\"-\"` to leave it out",
		},
		"values": {
			"A func() `json:\"a\"`\n\tB []chan int `json:\"b\"`\n\tC map[string]complex64 `json:\"c\"`\n\tD, E error `json:\"d\"`\n\tF any `json:\"f\"`\n\tG *fmt.Stringer `json:\"g\"`\n" +
				"\tH map[string]interface{} `json:\"h\"`\n\tI [4]int `json:\"i\"`\n\tJ uintptr `json:\"j\"`\n\tK float64 `json:\"k\"`\n\tL unsafe.Pointer `json:\"l\"`\n\terror `json:\"m\"`\n\tN struct{ A string } `json:\"n\"`",
			"",
			"10:2: field A of ThingSpec has type func(): JSON cannot contain a function; " + removed + "\n" +
				"11:2: field B of ThingSpec has type []chan int: JSON cannot contain a channel; " + removed + "\n" +
				"12:2: field C of ThingSpec has type map[string]complex64: JSON cannot contain a complex number; use two fields, or a string\n" +
				"13:2: field D of ThingSpec has type error: " + anyValue + "\n" +
				"14:2: field F of ThingSpec has type any: " + anyValue + "\n" +
				"15:2: field G of ThingSpec has type *fmt.Stringer: " + anyValue + "\n" +
				"16:2: field H of ThingSpec has type map[string]interface{}: " + anyValue + "\n" +
				"17:2: field I of ThingSpec has type [4]int: DeepCopy methods cannot be generated for it; use a slice, with the markers +kubebuilder:validation:MinItems and MaxItems\n" +
				"19:2: field K of ThingSpec has type float64: clients in other languages round floating-point numbers differently, so that no schema is generated for them; " +
				"use an integer, a string or resource.Quantity; or allow them with crd:allowDangerousTypes=true in the call of controller-gen\n" +
				"20:2: field L of ThingSpec has type unsafe.Pointer: JSON cannot contain a pointer without a type; " + removed + "\n" +
				"21:2: field error of ThingSpec has type error: " + anyValue + "\n" +
				"22:2: field N of ThingSpec has type struct{A string}: a struct without a name has no schema; declare a type with a name for it",
		},
		"only error": {"A error `json:\"a\"`", "", "10:2: field A of ThingSpec has type error: " + anyValue},
		"keys": {
			"A map[int]string `json:\"a\"`\n\tB map[Number]string `json:\"b\"`\n\tC map[Text]string `json:\"c\"`\n\tD map[Alias]string `json:\"d\"`\n\tE map[IntAlias]string `json:\"e\"`",
			"type Number int\n\ntype Text string\n\ntype Alias = string\n\ntype IntAlias = int",
			"10:2: field A of ThingSpec has type map[int]string: the keys of an object in JSON are strings, not int; " + noText + "\n" +
				"11:2: field B of ThingSpec has type map[v1.Number]string: the keys of an object in JSON are strings, not v1.Number; " + noText + "\n" +
				"14:2: field E of ThingSpec has type map[v1.IntAlias]string: the keys of an object in JSON are strings, not int; " + noText,
		},
		"arguments": {
			"A G[any] `json:\"a\"`\n\tB *G[func()] `json:\"b\"`\n\tC L[error] `json:\"c\"`\n\tD G[[2]int] `json:\"d\"`\n\tE Grow[int] `json:\"e\"`",
			"type G[T any] struct {\n\tA L[T] `json:\"a\"`\n}\n\ntype L[T any] []T\n\ntype Grow[T any] struct {\n\tA *Grow[[]T] `json:\"a\"`\n}",
			"10:2: field A of ThingSpec contains v1.G[any].A, which has type any: " + anyValue + "\n" +
				"11:2: field B of ThingSpec contains v1.G[func()].A, which has type func(): JSON cannot contain a function; " + removed + "\n" +
				"12:2: field C of ThingSpec has type v1.L[error]: " + anyValue + "\n" +
				"13:2: field D of ThingSpec has type v1.G[[2]int]: DeepCopy methods cannot be generated for it; use a slice, with the markers +kubebuilder:validation:MinItems and MaxItems\n" +
				"14:2: field E of ThingSpec contains v1.Grow[int].A" + strings.Repeat(".A", 23) + "…, which has type v1.Grow[" + strings.Repeat("[]", 26) + "…: " +
				"it refers to ever larger instances of itself; let it refer only to instances with the same type arguments\n" +
				"32:11: instantiation cycle:\n" +
				"33:10: T instantiated as []T",
		},
		"other modules": {
			"A time.Time `json:\"a\"`\n\tB *http.Cookie `json:\"b\"`\n\tC http.Client `json:\"c\"`\n\tD url.Userinfo `json:\"d\"`\n\tE []url.URL `json:\"e\"`", "",
			"10:2: field A of ThingSpec contains time.Time.wall, which has no JSON tag; " + foreignFix + "\n" +
				"11:2: field B of ThingSpec contains http.Cookie.Name, which has no JSON tag; " + foreignFix + "\n" +
				"12:2: field C of ThingSpec contains http.Client.Transport, which has no JSON tag; " + foreignFix + "\n" +
				"13:2: field D of ThingSpec contains url.Userinfo.username, which has no JSON tag; " + foreignFix + "\n" +
				"14:2: field E of ThingSpec contains url.URL.Scheme, which has no JSON tag; " + foreignFix,
		},
		"string in tags": {
			"A int `json:\"a,string\"`\n\tB *V `json:\"b,string,omitempty\"`\n\tC []W `json:\"c\"`\n\tD string `json:\"d,string\"`\n\t// +kubebuilder:validation:Type=string\n\tE int `json:\"e,string\"`",
			"type V bool\n\ntype W struct {\n\tA uint8 `json:\"a,string\"`\n}\n\ntype Unused struct {\n\tA uint8 `json:\"a,string\"`\n}",
			"WARNING 10:2: Go encodes A as a string because of its JSON tag, but its schema has type integer, so no API server accepts it; remove string from the tag, or write the marker +kubebuilder:validation:Type=string\n" +
				"WARNING 11:2: Go encodes B as a string because of its JSON tag, but its schema has type boolean, so no API server accepts it; remove string from the tag, or write the marker +kubebuilder:validation:Type=string\n" +
				"WARNING 30:2: Go encodes A as a string because of its JSON tag, but its schema has type integer, so no API server accepts it; remove string from the tag, or write the marker +kubebuilder:validation:Type=string",
		},
		"generic type with own methods": {
			"A G[string] `json:\"a\"`",
			"// +kubebuilder:object:generate=false\ntype G[T any] struct{ B []T `json:\"b\"` }\n\nfunc (in *G[T]) DeepCopyInto(out *G[T]) { *out = *in }", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := withKind(t)
			for name, importPath := range map[string]string{"fmt.": "fmt", "http.": "net/http", "url.": "net/url", "time.": "time", "unsafe.": "unsafe"} {
				if strings.Contains(test.fields, name) {
					edit(t, dir, file, "import metav1", "import \""+importPath+"\"; import metav1")
				}
			}
			edit(t, dir, file, "// +kubebuilder:validation:Minimum=1\n\tSize int `json:\"size\"`", test.fields)
			write(t, dir, file, read(t, dir, file)+"\n"+test.types+"\n")
			result, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir})
			if got := outcome(result, err, file); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestUnsupportedApplyConfigurations expects a finding where apply configurations cannot be generated.
func TestUnsupportedApplyConfigurations(t *testing.T) {
	t.Parallel()
	dir := withKind(t)
	const file = "api/v1/thing_types.go"
	edit(t, dir, file, "// +groupName", "// +kubebuilder:ac:generate=true\n// +groupName")
	edit(t, dir, file, "\tSize int", "\tA G[string] `json:\"a\"`\n\tSize int")
	edit(t, dir, file, "// +kubebuilder:object:root=true", "// +kubebuilder:object:root=true\n// +kubebuilder:resource:path=things")
	write(t, dir, file, read(t, dir, file)+"\ntype G[T any] struct{ B []T `json:\"b\"` }\n")
	_, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir, Calls: calls("applyconfiguration paths=./...")})
	const want = file + ":12:4: apply configurations cannot be generated for an instance of a generic type; " +
		"declare a type without parameters for it, or remove the marker +kubebuilder:ac:generate"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// outcome returns the error of generate, or else its warnings, without the name of a file in front of positions.
func outcome(result *Result, err error, file string) string {
	var lines []string
	if err != nil {
		lines = append(lines, err.Error())
	} else {
		for _, warning := range result.Warnings {
			lines = append(lines, "WARNING "+warning.Error())
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), file+":", "")
}
