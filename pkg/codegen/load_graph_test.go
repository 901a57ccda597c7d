package codegen

import (
	"context"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/operon-sdk/operon/pkg/filecache"
	"github.com/operon-sdk/operon/pkg/goenv"
)

// TestErrorsOfTheGoCommand introduces errors that only the go command detects, and expects the same error with a store
// that holds the dependencies as without a store.
func TestErrorsOfTheGoCommand(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	generate(t, Options{Env: os.Environ(), Root: fixture(t, "shapes"), CacheDir: cache})
	const imports = "package v1\n\nimport _ "
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"an import cycle": {map[string]string{
			"api/v1/cycle.go":     imports + "\"example.com/shapes/pkg/cycle\"\n",
			"pkg/cycle/cycle.go":  "package cycle\n\nimport _ \"example.com/shapes/api/v1\"\n",
			"pkg/cycle/second.go": "package cycle\n",
		}, "import cycle"},
		"an internal package of another directory": {map[string]string{
			"api/v1/internal.go":          imports + "\"example.com/shapes/pkg/internal/one\"\n",
			"pkg/internal/one/one.go":     "package one\n",
			"pkg/internal/one/another.go": "package one\n",
		}, "use of internal package"},
		"a program": {map[string]string{"api/v1/program.go": imports + "\"example.com/shapes/cmd\"\n"}, "is a program"},
		"a missing directory": {map[string]string{
			"api/v1/absent.go": imports + "\"example.com/shapes/pkg/absent\"\n",
		}, "pkg/absent"},
		"source in C": {map[string]string{"api/v1/source.c": "int one;\n"}, "C source files not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Without cgo, the go command ignores C files.
			opts := Options{Env: append(os.Environ(), "CGO_ENABLED=1"), Root: fixture(t, "shapes")}
			edit(t, opts.Root, "api/v1/odd_types.go", "Boxed has", "Boxed had")
			for file, content := range c.files {
				write(t, opts.Root, file, content)
			}
			_, want := Generate(context.Background(), opts)
			if want == nil || !strings.Contains(want.Error(), c.want) {
				t.Fatalf("without a store: %v, want an error about %q", want, c.want)
			}
			opts.CacheDir = cache
			if _, err := Generate(context.Background(), opts); err == nil || err.Error() != want.Error() {
				t.Errorf("with a store: %v, want %v", err, want)
			}
		})
	}
}

// TestDependenciesOfCachedGraph changes the imports of a dependency outside of the module cache.
func TestDependenciesOfCachedGraph(t *testing.T) {
	skipIfShort(t, "it loads the types of many packages several times")
	t.Parallel()
	opts := Options{Env: os.Environ(), Root: fixture(t, "shapes"), CacheDir: t.TempDir()}
	outside := filepath.Join(opts.Root, "..", "outside")
	write(t, outside, "go.mod", "module example.com/outside\n\ngo 1.24\n")
	write(t, outside, "kinds/kinds.go", "package kinds\n\n// Kind is a kind.\ntype Kind string\n")
	write(t, opts.Root, "go.mod", read(t, opts.Root, "go.mod")+"\nrequire example.com/outside v0.0.0\nreplace example.com/outside => ../outside\n")
	write(t, opts.Root, "api/v1/outside_types.go", "package v1\n\nimport \"example.com/outside/kinds\"\n\nfunc init() { _ = Outside{} }\n\n// Outside refers to another module.\n// +kubebuilder:object:generate=true\ntype Outside struct {\n\tKinds []kinds.Kind `json:\"kinds\"`\n\tOdd kinds.Kind `json:\"odd\"`\n}\n")
	edit(t, opts.Root, "api/v1/shape_types.go", "type ShapeSpec struct {", "type ShapeSpec struct {\n\t// Outside is new.\n\tOutside *Outside `json:\"outside,omitempty\"`\n")
	before := generate(t, opts)
	edit(t, outside, "kinds/kinds.go", "package kinds\n", "package kinds\n\nimport \"example.com/outside/more\"\n")
	edit(t, outside, "kinds/kinds.go", "type Kind string", "type Kind struct {\n\tMore more.More `json:\"more\"`\n}")
	write(t, outside, "more/more.go", "package more\n\n// More is more.\ntype More struct {\n\tText string `json:\"text\"`\n}\n")
	after := expectChange(t, opts, before)
	edit(t, outside, "more/more.go", "Text string `json:\"text\"`", "Texts []string `json:\"texts\"`")
	expectChange(t, opts, after)
}

// TestModulesKey changes the inputs that determine the dependencies, one at a time, and expects another key; then other
// inputs, and expects the same key.
func TestModulesKey(t *testing.T) {
	t.Parallel()
	create := func(t *testing.T) Options {
		dir := realTemp(t)
		write(t, dir, "op/go.mod", "module example.com/op\n\ngo 1.24\n\nrequire example.com/near v0.0.0\n\nreplace example.com/near => ../near\n")
		write(t, dir, "op/go.sum", "\n")
		write(t, dir, "near/go.mod", "module example.com/near\n")
		write(t, dir, "used/go.mod", "module example.com/used\n")
		write(t, dir, "go.work", "go 1.24\n\nuse ./op\nuse ./used\nreplace example.com/far => ./far\n")
		write(t, dir, "far/go.mod", "module example.com/far\n")
		write(t, dir, "goroot/VERSION", "go1.26\n")
		write(t, dir, "goenv", "GOFLAGS=-mod=mod\n")
		write(t, dir, "bin/gcc", "")
		return Options{Root: filepath.Join(dir, "op"), Env: []string{
			"HOME=" + dir, "GOROOT=" + filepath.Join(dir, "goroot"), "GOENV=" + filepath.Join(dir, "goenv"),
			"PATH=" + filepath.Join(dir, "bin"), "CC=gcc",
		}}
	}
	key := func(t *testing.T, opts Options) filecache.Digest {
		t.Helper()
		g, err := newGeneration(opts)
		if err != nil {
			t.Fatal(err)
		}
		g.setKeys()
		return g.modules
	}
	file := func(name, content string) func(*testing.T, *Options) {
		return func(t *testing.T, o *Options) { write(t, o.Root, name, content) }
	}
	variable := func(v string) func(*testing.T, *Options) {
		return func(_ *testing.T, o *Options) { o.Env = append(o.Env, v) }
	}
	for name, change := range map[string]func(*testing.T, *Options){
		"go.mod": file("go.mod", "module example.com/op\n"),
		"go.mod in the overlay": func(_ *testing.T, o *Options) {
			o.Overlay = map[string][]byte{"go.mod": []byte("module example.com/op\n")}
		},
		"go.sum":                             file("go.sum", "example.com/near v0.0.0 h1:0\n"),
		"vendored modules":                   file("vendor/modules.txt", "# example.com/near\n"),
		"go.work":                            file("../go.work", "go 1.24\n\nuse ./op\n"),
		"go.work.sum":                        file("../go.work.sum", "example.com/near v0.0.0 h1:0\n"),
		"a nested module":                    file("nested/go.mod", "module example.com/op/nested\n"),
		"go.mod of a replacement":            file("../near/go.mod", "module example.com/near\n\ngo 1.25\n"),
		"go.mod of a module in use":          file("../used/go.mod", "module example.com/used\n\ngo 1.25\n"),
		"go.mod of a replacement in go.work": file("../far/go.mod", "module example.com/far\n\ngo 1.25\n"),
		"the version of Go":                  file("../goroot/VERSION", "go1.27\n"),
		"settings of the installation":       file("../goroot/go.env", "GOTOOLCHAIN=local\n"),
		"settings of the user":               file("../goenv", "GOFLAGS=-mod=vendor\n"),
		"GOFLAGS":                            variable("GOFLAGS=-tags=more"),
		"GOOS":                               variable("GOOS=plan9"),
		"GOARCH":                             variable("GOARCH=mips"),
		"CGO_ENABLED":                        variable("CGO_ENABLED=0"),
		"GOTOOLCHAIN":                        variable("GOTOOLCHAIN=go1.27.0"),
		"GOEXPERIMENT":                       variable("GOEXPERIMENT=nothing"),
		"GOWORK":                             variable("GOWORK=off"),
		"GOMODCACHE":                         variable("GOMODCACHE=/other"),
		"the home directory":                 variable("HOME=/other"),
		"a missing C compiler":               variable("PATH=/other"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "a missing C compiler" && runtime.GOOS == "windows" {
				t.Skip("programs of Windows have other names")
			}
			opts := create(t)
			if err := os.Chmod(filepath.Join(opts.Root, "..", "bin", "gcc"), 0o755); err != nil {
				t.Fatal(err)
			}
			before := key(t, opts)
			change(t, &opts)
			if key(t, opts) == before {
				t.Error("the key is the same")
			}
		})
	}
	for name, change := range map[string]func(*testing.T, *Options){
		"a header":    file("hack/boilerplate.go.txt", "// Another.\n"),
		"the proxy":   variable("GOPROXY=off"),
		"a Go file":   file("api/v1/types.go", "package v1\n"),
		"the options": func(_ *testing.T, o *Options) { o.Calls = calls("rbac:roleName=other paths=./...") },
	} {
		t.Run("not "+name, func(t *testing.T) {
			t.Parallel()
			opts := create(t)
			before := key(t, opts)
			change(t, &opts)
			if key(t, opts) != before {
				t.Error("the key differs")
			}
		})
	}
}

// TestReplacedFiles expects flags that replace files of the keys to disable the store.
func TestReplacedFiles(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"-modfile=other.mod", "-overlay=overlay.json"} {
		env := goenv.New([]string{"GOFLAGS=-mod=mod " + flag}, false)
		g := &generation{env: env, store: &filecache.Store{Dir: "somewhere"}, project: &project{}}
		if g.setKeys(); g.store.Dir != "" {
			t.Errorf("the store is used with %s", flag)
		}
	}
}

// TestWrap expects the loader of controller-tools to have the fields that wrap sets.
func TestWrap(t *testing.T) {
	t.Parallel()
	below := &packages.Package{ID: "b", PkgPath: "b"}
	loaded, err := wrap(token.NewFileSet(), []*packages.Package{
		{ID: "a", PkgPath: "a", Imports: map[string]*packages.Package{"b": below}}, below,
	})
	if err != nil || len(loaded) != 2 || loaded[0].Imports()["b"] != loaded[1] {
		t.Fatalf("loaded: %v, %v, want two packages, the second of which the first imports", loaded, err)
	}
	loaded[1].NeedTypesInfo()
	if loaded[1].Types == nil || len(loaded[1].Errors) > 0 {
		t.Errorf("types: %v, errors: %v", loaded[1].Types, loaded[1].Errors)
	}
}

// TestSettable expects a release of controller-tools with other fields to be an error, and not to make generating slower unnoticed.
func TestSettable(t *testing.T) {
	t.Parallel()
	var other struct{ loader map[string]int }
	for _, name := range []string{"cfg", "loader"} {
		if _, err := settable(reflect.ValueOf(&other), name, reflect.Pointer); err == nil || !strings.Contains(err.Error(), "no field "+name+" that is a ptr; report") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if field, err := settable(reflect.ValueOf(&other), "loader", reflect.Map); err != nil || !field.CanSet() {
		t.Errorf("field %v, error %v", field, err)
	}
}
