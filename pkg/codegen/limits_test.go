package codegen

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// repeat returns the texts of 0 to n-1, which are formatted with their number and the number before.
func repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i, i-1)
	}
	return b.String()
}

// TestLimits generates from source that would take gigabytes or hours.
func TestLimits(t *testing.T) {
	t.Parallel()
	enum := func(n int) string { return "// +kubebuilder:validation:Enum=" + repeat(n, "v%[1]d;") }
	for name, test := range map[string]struct{ source, want string }{
		"braces": {
			"// +kubebuilder:validation:Enum=" + strings.Repeat("{", 20_000) + "\ntype A string",
			"3:4: marker +kubebuilder:validation:Enum: braces are nested more than 100 levels deep",
		},
		"values": {
			enum(20_000) + "\ntype A string",
			"3:4: marker +kubebuilder:validation:Enum: 20001 values; a marker can have at most 10000",
		},
		"values of many markers": {
			repeat(11, strings.ReplaceAll(enum(9_999), "%", "%%")+"\ntype A%[1]d string\n"),
			"23:4: marker +kubebuilder:validation:Enum: the markers up to here have more than 100000 values",
		},
		"length of a marker": {
			`// +kubebuilder:validation:Pattern="` + strings.Repeat("x", 1<<20) + "\"\ntype A string",
			"3:4: marker +kubebuilder:validation:Pattern: the marker is longer than 256 KiB",
		},
		"nested slices": {
			"type A struct {\n	B " + strings.Repeat("[]", 3_000) + "string\n}",
			"3:6: type A.B is nested more than 1000 levels deep",
		},
		"nested types": {
			"type T0 string\n" + repeat(3_001, "type T%[1]d struct{ Next T%[2]d }\n")[len("type T0 struct{ Next T-1 }\n"):],
			"503:6: type T500.Next.Next.Next.Next… is nested more than 1000 levels deep",
		},
		"nested types, the outermost first": {
			repeat(3_000, "type T%[2]d struct{ Next T%[1]d }\n")[len("type T-1 struct{ Next T0 }\n"):] + "type T2999 string",
			"3:6: type T0.Next.Next.Next.Next… is nested more than 1000 levels deep",
		},
		"value of a constant": {
			"const a = 1" + strings.Repeat("+1", 20_000),
			"3:1: the value is nested more than 10000 levels deep",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const file = "api/v1/limits.go"
			dir := withKind(t)
			write(t, dir, file, "package v1\n\n"+test.source+"\n")
			_, err := Generate(context.Background(), Options{Root: dir, Env: os.Environ()})
			if err == nil || err.Error() != file+":"+test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
			out, complaints, err := call(dir, "crd", "paths=./...", "output:stdout")
			if err == nil || out != "" || strings.Count(complaints, test.want) != 1 {
				t.Errorf("controller-gen printed %q, %q, want %s", out, complaints, test.want)
			}
		})
	}
}
