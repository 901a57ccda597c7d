package codegen

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
)

const kind = `// Package v1 is a version.
// +kubebuilder:object:generate=true
// +groupName=bare.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ThingSpec is.
type ThingSpec struct {
	// +kubebuilder:validation:Minimum=1
	Size int ` + "`json:\"size\"`" + `
}

// +kubebuilder:object:root=true

// Thing is.
type Thing struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Spec ThingSpec ` + "`json:\"spec\"`" + `
}
`

// withKind returns the directory of a project with one valid kind.
func withKind(t testing.TB) string {
	t.Helper()
	dir := fixture(t, "groupless")
	if err := os.RemoveAll(filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "api")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "api/v1/thing_types.go", kind)
	return dir
}

// TestFindings introduces errors into a valid project, and expects their positions and messages.
func TestFindings(t *testing.T) {
	t.Parallel()
	const file = "api/v1/thing_types.go"
	cache := t.TempDir()
	for name, test := range map[string]struct {
		edits [][3]string // file (created if old is empty), old, new
		want  []string
	}{
		"syntax": {
			[][3]string{{file, "Size int", "Size int int"}, {"internal/other.go", "", "package internal\n\nfunc {\n"}},
			[]string{file + ":11:11: expected ';', found int", "internal/other.go:3:6: expected 'IDENT', found '{'"},
		},
		"undefined type": {
			[][3]string{{file, "Size int", "Size Int"}},
			[]string{file + ":11:7: undefined: Int"},
		},
		"undefined type of a dependency": {
			[][3]string{{file, "Size int", "Size metav1.Tyme"}},
			[]string{file + ":11:14: undefined: metav1.Tyme"},
		},
		"type declared twice": {
			[][3]string{{"api/v1/again.go", "", "package v1\n\n// ThingSpec is.\ntype ThingSpec struct{}\n"}},
			[]string{file + ":9:6: ThingSpec redeclared in this block"},
		},
		"unknown import": {
			[][3]string{{file, `import metav1`, "import _ \"example.com/groupless/nowhere\"\nimport metav1"}},
			[]string{file + `:6:8: no required module provides package example.com/groupless/nowhere; to add it: go get example.com/groupless/nowhere`},
		},
		"module that go.mod does not require": {
			[][3]string{{file, `import metav1`, "import _ \"example.org/external/nowhere\"\nimport metav1"}},
			[]string{file + `:6:8: no required module provides package example.org/external/nowhere`},
		},
		"go.mod that cannot be read": {
			[][3]string{{"go.mod", "go 1.26.0", "go 1.26.0\n\nbogus x"}},
			[]string{"go.mod:5: unknown directive: bogus"},
		},
		"go.mod that is not complete": {
			[][3]string{{"go.mod", "\tk8s.io/klog/v2", "\t// k8s.io/klog/v2"}},
			[]string{"go list: updates to go.mod needed"},
		},
		"go.sum that is not complete": {
			[][3]string{{"go.sum", "k8s.io/apimachinery v", "k8s.io/apimachinery v9"}},
			[]string{file + ":6:8: missing go.sum entry"},
		},
		"two packages in a directory": {
			[][3]string{{"api/v1/zz.go", "", "package v2\n"}},
			[]string{"api/v1/zz.go:1:9: package v2 in the directory of package v1; a directory can contain only one package"},
		},
		"unknown argument": {
			[][3]string{{"internal/c.go", "", "package internal\n\n// +kubebuilder:rbac:groups=apps,resources=pods,verb=get\n"}},
			[]string{`internal/c.go:3:49: marker +kubebuilder:rbac: unknown argument "verb"; did you mean "verbs"? (arguments: groups, namespace, resourceNames, resources, roleName, urls, verbs)`},
		},
		"missing argument": {
			[][3]string{{"internal/c.go", "", "package internal\n\n// +kubebuilder:rbac:groups=apps,resources=pods\n"}},
			[]string{`internal/c.go:3:4: marker +kubebuilder:rbac: missing argument "verbs"`},
		},
		"argument of the wrong type": {
			[][3]string{{file, "Minimum=1", "Minimum=one"}},
			[]string{file + ":10:5: marker +kubebuilder:validation:Minimum: invalid minimum value"},
		},
		"marker that the field's type does not take": {
			[][3]string{{file, "Minimum=1", "MinLength=1"}},
			[]string{file + ":11:2: must apply minlength to a textual value, found type \"integer\""},
		},
		"type without a schema": {
			[][3]string{{file, "Size int", "Size float64"}},
			[]string{file + ":11:2: field Size of ThingSpec has type float64: clients in other languages round floating-point numbers differently"},
		},
		"field without a tag": {
			[][3]string{{file, "Size int `json:\"size\"`", "Size int"}},
			[]string{file + ":11:2: field Size of ThingSpec has no JSON tag; write `json:\"size\"` behind it, or `json:\"-\"` to leave it out"},
		},
		"no served version": {
			[][3]string{{file, "// Thing is", "// +kubebuilder:unservedversion\n\n// Thing is"}},
			[]string{file + ":19:6: kind Thing has no served version; remove the marker"},
		},
		"no stored version": {
			[][3]string{{"api/v2/thing_types.go", "", strings.ReplaceAll(kind, "package v1\n", "package v2\n")}},
			[]string{file + ":17:6: kind Thing has no storage version; add the marker"},
		},
		"two stored versions": {
			[][3]string{
				{file, "// Thing is", "// +kubebuilder:storageversion\n\n// Thing is"},
				{"api/v2/thing_types.go", "", strings.ReplaceAll(strings.ReplaceAll(kind, "package v1\n", "package v2\n"), "// Thing is", "// +kubebuilder:storageversion\n\n// Thing is")},
			},
			[]string{"api/v2/thing_types.go:19:6: kind Thing has 2 storage versions: v1, v2; keep the marker"},
		},
		"type that cannot be copied": {
			[][3]string{{file, "// ThingSpec is", "// Doer does.\ntype Doer interface{ Do() }\n\n// Func does.\ntype Func func()\n\n// ThingSpec is"}},
			[]string{file + ":12:6: type Func has type func(): JSON cannot contain a function; write +kubebuilder:object:generate=false above it"},
		},
		"webhook": {
			[][3]string{
				{"internal/a.go", "", "package internal\n\n// +kubebuilder:webhook:path=/a,mutating=true,failurePolicy=fail,sideEffects=None,groups=g,resources=r,verbs=create,versions=v1,name=a.kb.io,admissionReviewVersions=v1\n"},
				{"internal/b.go", "", "package internal\n\n// +kubebuilder:webhook:path=/b,mutating=true,failurePolicy=fail,groups=g,resources=r,verbs=create,versions=v1,name=b.kb.io,admissionReviewVersions=v1\n"},
			},
			[]string{"internal/b.go:3:4: marker +kubebuilder:webhook: SideEffects is required"},
		},
		"all at once, sorted": {
			[][3]string{
				{"internal/z.go", "", "package internal\n\n// +kubebuilder:rbac:verb=get\n"},
				{"internal/a.go", "", "package internal\n\n// +kubebuilder:rbac:verb=get\n\n// +kubebuilder:webhook:pat=x\n"},
			},
			[]string{"internal/a.go:3:22: ", "internal/a.go:5:25: ", "internal/z.go:3:22: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := withKind(t)
			generate(t, Options{Env: os.Environ(), Root: dir, CacheDir: cache})
			for _, e := range test.edits {
				if e[1] == "" {
					write(t, dir, e[0], e[2])
				} else {
					edit(t, dir, e[0], e[1], e[2])
				}
			}
			var first string
			cached := Options{Env: os.Environ(), Root: dir, CacheDir: cache}
			all := []Options{cached, cached, {Env: os.Environ(), Root: dir}}
			if testing.Short() {
				all = all[:1] // without a cache, the types of many packages are loaded again
			}
			for _, opts := range all {
				result, err := Generate(context.Background(), opts)
				if err == nil {
					t.Fatalf("got %v, want an error", result)
				}
				findings, ok := errors.AsType[diag.Findings](err)
				if !ok {
					t.Fatalf("%T: %v", err, err)
				}
				if strings.Contains(err.Error(), dir) {
					t.Errorf("the message contains an absolute path: %v", err)
				}
				for _, want := range test.want {
					if !slices.ContainsFunc(findings, func(f diag.Finding) bool { return strings.HasPrefix(f.Error(), want) }) {
						t.Errorf("got\n%v\nwant %q", err, want)
					}
				}
				if !slices.IsSortedFunc(findings, func(a, b diag.Finding) int {
					return strings.Compare(a.File, b.File)*1000 + a.Line - b.Line
				}) || len(findings.Distinct()) != len(findings) {
					t.Errorf("not sorted, or not unique:\n%v", err)
				}
				if first == "" {
					first = err.Error()
				} else if err.Error() != first {
					t.Errorf("got\n%v\nwant, as the first time,\n%v", err, first)
				}
			}
		})
	}
}

func TestUnknownMarkersAreWarnings(t *testing.T) {
	t.Parallel()
	dir, cache := withKind(t), t.TempDir()
	edit(t, dir, "api/v1/thing_types.go", "validation:Minimum=1", "validation:Minimun=1")
	write(t, dir, "internal/c.go", "package internal\n\n// +kubebuilder:scaffold:imports\n// +kubebuilder:docs-gen:collapse=Imports\n// +kubebuilder:rbc:groups=apps\n\n// +kubebuilder:object:rot\n// +other:thing\n")
	want := []string{
		"api/v1/thing_types.go:10:5: unknown marker +kubebuilder:validation:Minimun: no generator reads it; did you mean +kubebuilder:validation:Minimum?",
		"internal/c.go:5:4: unknown marker +kubebuilder:rbc:groups: no generator reads it; did you mean +kubebuilder:rbac:groups?",
		"internal/c.go:7:4: unknown marker +kubebuilder:object:rot: no generator reads it; did you mean +kubebuilder:object:root?",
	}
	for range 2 {
		result, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir, CacheDir: cache})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, warning := range result.Warnings {
			got = append(got, warning.Error())
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestHeaderMissing(t *testing.T) {
	t.Parallel()
	dir := withKind(t)
	if err := os.Remove(filepath.Join(dir, "hack", "boilerplate.go.txt")); err != nil {
		t.Fatal(err)
	}
	const generated = "api/v1/zz_generated.deepcopy.go"
	result, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir})
	if err != nil || len(result.Warnings) > 0 ||
		!strings.HasPrefix(string(result.Files[generated]), "//go:build !ignore_autogenerated\n\n// Code generated") {
		t.Errorf("by default: got %v, %v\n%s", err, result.Warnings, result.Files[generated])
	}
	call := Call{Args: objectArgs(), Source: diag.Position{File: "Makefile", Line: 12}}
	result, err = Generate(context.Background(), Options{Env: os.Environ(), Root: dir, Calls: []Call{call}})
	want := "Makefile:12: header file hack/boilerplate.go.txt not found; object is generated without a header"
	if err != nil || len(result.Warnings) != 1 || result.Warnings[0].Error() != want {
		t.Errorf("by a call: got %v, %v; want the warning %q", err, result.Warnings, want)
	}
}

func TestGoMissing(t *testing.T) {
	t.Parallel()
	dir := withKind(t)
	env := []string{"PATH=", "HOME=" + t.TempDir()}
	if _, err := Generate(context.Background(), Options{Root: dir, Env: env}); !errors.Is(err, ErrGoMissing) {
		t.Errorf("got %v", err)
	}
	// Generators without types do not need the go command.
	generate(t, Options{Root: dir, Env: env, Generators: RBAC | Webhook})
	generate(t, Options{Root: fixture(t, "bare"), Env: env})
}

// TestModulesMissing generates with an empty module cache, which succeeds for types that refer only to those in builtin.txtar
// of the required version.
func TestModulesMissing(t *testing.T) {
	t.Parallel()
	const file, metav1 = "api/v1/thing_types.go", "k8s.io/apimachinery/pkg/apis/meta/v1"
	offline := func(t *testing.T, dir string) Options {
		home := t.TempDir()
		return Options{Root: dir, Offline: true, Env: append(os.Environ(),
			"HOME="+home, "GOPATH="+filepath.Join(home, "go"), "GOMODCACHE="+filepath.Join(home, "mod"), "GOFLAGS=-modcacherw")}
	}
	dir := withKind(t)
	sameFiles(t, "without modules", generate(t, offline(t, dir)), generate(t, Options{Env: os.Environ(), Root: dir, Offline: true}))
	for name, edits := range map[string][][3]string{
		"a type that is not built in": {{file, "Size int", "Size *metav1.LabelSelector"}},
		"a package that is not built in": {
			{file, "metav1 \"" + metav1 + "\"", "metav1 \"" + metav1 + "\"; import \"k8s.io/apimachinery/pkg/api/resource\""},
			{file, "Size int", "Size resource.Quantity"},
		},
		"a type of the standard library": {
			{file, "metav1 \"" + metav1 + "\"", "metav1 \"" + metav1 + "\"; import \"time\""},
			{file, "Size int", "Size time.Time"},
		},
		"another version": {{"go.mod", "k8s.io/apimachinery v0.37.2", "k8s.io/apimachinery v0.37.1"}, {"go.sum", "k8s.io/apimachinery v0.37.2", "k8s.io/apimachinery v0.37.1"}},
		"a replacement": {
			{"go.mod", "require", "replace k8s.io/apimachinery => example.com/fork v0.37.2\n\nrequire"},
			{"go.sum", "k8s.io/apimachinery v0.37.2 ", "example.com/fork v0.37.2 "}, {"go.sum", "k8s.io/apimachinery v0.37.2/", "example.com/fork v0.37.2/"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := withKind(t)
			for _, e := range edits {
				edit(t, dir, e[0], e[1], e[2])
			}
			_, err := Generate(context.Background(), offline(t, dir))
			_, ok := errors.AsType[diag.Findings](err)
			if !errors.Is(err, ErrModulesMissing) || ok || !strings.Contains(err.Error(), "api/v1/thing_types.go:6:") {
				t.Errorf("got %v, want an error with the import that is not about the source", err)
			}
		})
	}
}

func TestNoProject(t *testing.T) {
	t.Parallel()
	_, err := Generate(context.Background(), Options{Env: os.Environ(), Root: t.TempDir()})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("got %v", err)
	}
	overlay := map[string][]byte{"go.mod": []byte("go 1.26\n"), "hack/boilerplate.go.txt": {}}
	_, err = Generate(context.Background(), Options{Env: os.Environ(), Root: t.TempDir(), Overlay: overlay})
	if err == nil || !strings.HasPrefix(err.Error(), "go.mod:1: ") {
		t.Errorf("got %v", err)
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Generate(ctx, Options{Env: os.Environ(), Root: withKind(t)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"kubebuilder:object:root", "kubebuilder:validation:MaxItems", "kubebuilder:validation:Minimum", "verbs"}
	for name, want := range map[string]string{
		"kubebuilder:validation:minimum": "kubebuilder:validation:Minimum",
		"kubebuilder:validaton:Minimum":  "kubebuilder:validation:Minimum",
		"kubebuilder:validation:Maxitem": "kubebuilder:validation:MaxItems",
		"verb":                           "verbs",
		"":                               "verbs",
	} {
		if got := nearest(name, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
