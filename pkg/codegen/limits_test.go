package codegen

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// repeat returns a text for each number from 1 to n, formatted with the number and the one before.
func repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i+1, i)
	}
	return b.String()
}

// checkLimited expects Generate, and generators of controller-gen, to report the same.
func checkLimited(t *testing.T, dir, place, message string, generators ...string) {
	t.Helper()
	_, err := Generate(context.Background(), Options{Root: dir, Env: os.Environ()})
	if err == nil || !strings.HasPrefix(err.Error(), place+": ") || !strings.Contains(err.Error(), message) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want %s: %s", err, place, message)
	}
	for _, generator := range generators {
		out, errOut, err := call(dir, generator, "paths=./...", "output:stdout")
		if err == nil || out != "" || strings.Count(errOut, message) != 1 || !strings.Contains(errOut, "/"+place+": ") {
			t.Errorf("controller-gen %s printed %q, %q, want %s: %s", generator, out, errOut, place, message)
		}
	}
}

// TestSourceLimits generates from source that needs gigabytes or hours to parse or to type-check.
func TestSourceLimits(t *testing.T) {
	t.Parallel()
	enum := func(n int) string { return "// +kubebuilder:validation:Enum=" + repeat(n, "v%[1]d;") }
	for name, test := range map[string]struct{ source, place, want string }{
		"braces": {
			"// +kubebuilder:validation:Enum=" + strings.Repeat("{", 20_000) + "\ntype A string", "3:4",
			"marker +kubebuilder:validation:Enum: braces are nested more than 100 levels deep",
		},
		"values": {
			enum(20_000) + "\ntype A string", "3:4",
			"marker +kubebuilder:validation:Enum: 20001 values; a marker can have at most 10000",
		},
		"values of many markers": {
			repeat(20, strings.ReplaceAll(enum(9_000), "%", "%%")+"\ntype A%[1]d string\n"), "13:4",
			"marker +kubebuilder:validation:Enum: parsing the values of the markers up to here takes more than 500000000 steps; divide the longest lists",
		},
		"length of a marker": {
			`// +kubebuilder:validation:Pattern="` + strings.Repeat("x", 1<<20) + "\"\ntype A string", "3:4",
			"marker +kubebuilder:validation:Pattern: the marker is longer than 256 KiB",
		},
		"nested slices": {
			"type A struct {\n	B " + strings.Repeat("[]", 3_000) + "string\n}", "3:6",
			"type A.B is nested more than 1000 levels deep",
		},
		"nested structs": {
			"type T0 string\n" + repeat(3_000, "type T%[1]d struct{ A *T%[2]d }\n"), "337:6",
			"type T334.A.A.A.A… is nested more than 1000 levels deep",
		},
		"nested structs, the outermost first": {
			repeat(3_000, "type T%[2]d struct{ A *T%[1]d }\n") + "type T3000 string", "3:6",
			"type T0.A.A.A.A… is nested more than 1000 levels deep",
		},
		"structs in structs": {
			"type T0 string\n" + repeat(30, "type T%[1]d struct{ A, B T%[2]d }\n"), "19:6",
			"type T16.A.A.A.A… has more than 100000 fields, counting the structs in it",
		},
		"inlined pointers": {
			"type T0 string\n" + repeat(30, "type T%[1]d struct{ A, B *T%[2]d `json:\",inline\"` }\n"), "19:6",
			"type T16.A.A.A.A… has more than 100000 fields, counting the structs in it",
		},
		"value of a constant": {
			"const a = 1" + strings.Repeat("+1", 20_000), "3:1",
			"the value is nested more than 10000 levels deep",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := withKind(t)
			write(t, dir, "api/v1/limits.go", "package v1\n\n"+test.source+"\n")
			checkLimited(t, dir, "api/v1/limits.go:"+test.place, test.want, "crd")
		})
	}
}

// TestLimitsOfDependencies generates from types of a package outside of the project.
func TestLimitsOfDependencies(t *testing.T) {
	t.Parallel()
	dir := withKind(t)
	write(t, dir, "dep/go.mod", "module example.com/dep\n")
	write(t, dir, "dep/dep.go", "package dep\n\ntype T0 string\n"+repeat(30, "type T%[1]d struct{ A, B T%[2]d }\n"))
	edit(t, dir, "go.mod", "\n\n", "\n\nrequire example.com/dep v0.0.0\n\nreplace example.com/dep => ./dep\n\n")
	edit(t, dir, "api/v1/thing_types.go", "import ", "import \"example.com/dep\"\nimport ")
	edit(t, dir, "api/v1/thing_types.go", "Size int", "Size dep.T30")
	checkLimited(t, dir, "dep/dep.go:19:6", "type T16.A.A.A.A… has more than", "object")
}

// TestSchemaLimits generates CRDs whose schemas are small in Go and extremely large in YAML.
func TestSchemaLimits(t *testing.T) {
	t.Parallel()
	pair := func(field string) string {
		return "type T0 string\n" + repeat(20, "\ntype T%[1]d struct {\n	A "+field+" `json:\"a\"`\n	B "+field+" `json:\"b\"`\n}\n")
	}
	fields := func(n int, typeName string) string {
		return " struct {\n" + repeat(n, "	F%[1]d "+typeName+" `json:\"f%[1]d\"`\n") + "}\n"
	}
	const many, large = "nodes; it grows at Thing.spec.size", "MiB; it grows at Thing.spec.size"
	for name, test := range map[string]struct{ types, want string }{
		"pointers":     {pair("*T%[2]d"), many + ".a.a.a.a."},
		"slices":       {pair("[]T%[2]d"), large + ".a[].a[].a[].a[]."},
		"maps":         {pair("map[string]T%[2]d"), large + ".a{}.a{}.a{}.a{}."},
		"cycles":       {repeat(20, "type T%[1]d"+fields(20, "*T%[1]d")), many + ".f"},
		"descriptions": {"type T20" + fields(1_000, "T") + "\n// T is " + strings.Repeat("x", 100_000) + ".\ntype T string\n", large + ".f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "pointers" {
				skipIfShort(t, "one shape suffices")
			}
			dir := withKind(t)
			edit(t, dir, "api/v1/thing_types.go", "// +kubebuilder:validation:Minimum=1\n	Size int", "Size *T20")
			write(t, dir, "api/v1/limits.go", "package v1\n\n"+test.types)
			checkLimited(t, dir, "api/v1/thing_types.go:16:6", test.want, "crd", "schemapatch:manifests=crds")
		})
	}
}
