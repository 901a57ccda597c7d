package codegen

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestChangedInput changes one input at a time, and expects the result of a run without a cache, which must differ from the
// one before.
func TestChangedInput(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	env := func(vars ...string) []string { return append(os.Environ(), vars...) }
	for name, change := range map[string]func(t *testing.T, opts *Options){
		"an API type":         func(t *testing.T, o *Options) { edit(t, o.Root, "api/v1/shape_types.go", "replicas to run", "to run") },
		"an imported package": func(t *testing.T, o *Options) { edit(t, o.Root, "pkg/shared/shared.go", "Gold;Silver", "Gold;Tin") },
		"a new file": func(t *testing.T, o *Options) {
			write(t, o.Root, "api/v1/more_types.go", "package v1\n\n// More is more.\ntype More struct {\n\tText []string `json:\"text\"`\n}\n")
		},
		"a deleted file": func(t *testing.T, o *Options) {
			if err := os.Remove(filepath.Join(o.Root, "internal", "webhook", "shape_webhook.go")); err != nil {
				t.Fatal(err)
			}
		},
		"a new package": func(t *testing.T, o *Options) {
			write(t, o.Root, "internal/late/late.go", "package late\n\n// +kubebuilder:rbac:groups=late.example.com,resources=lates,verbs=get\n\n// Late is late.\ntype Late struct{}\n")
		},
		"a file in the overlay": func(t *testing.T, o *Options) {
			o.Overlay = map[string][]byte{"internal/webhook/shape_webhook.go": nil}
		},
		"the header": func(t *testing.T, o *Options) { write(t, o.Root, "hack/boilerplate.go.txt", "// Another header.\n") },
		"the header file": func(t *testing.T, o *Options) {
			write(t, o.Root, "other.txt", "// Other.\n")
			o.Calls = calls("object:headerFile=other.txt paths=./...")
		},
		"the role's name": func(t *testing.T, o *Options) { o.Calls = calls("rbac:roleName=boss paths=./...") },
		"a directory":     func(t *testing.T, o *Options) { o.Calls = calls("crd paths=./... output:crd:dir=crds") },
		"an option":       func(t *testing.T, o *Options) { o.Calls = calls("crd:maxDescLen=0 paths=./...") },
		"the paths":       func(t *testing.T, o *Options) { o.Calls = calls("crd paths=./api/v1") },
		"the generators":  func(t *testing.T, o *Options) { o.Generators = RBAC },
		"GOOS":            func(t *testing.T, o *Options) { o.Env = env("GOOS=windows") },
		"an ignore directive": func(t *testing.T, o *Options) {
			write(t, o.Root, "go.mod", read(t, o.Root, "go.mod")+"\nignore ./internal/webhook\n")
		},
		"a module replaced by a directory": func(t *testing.T, o *Options) {
			copyModule(t, "k8s.io/api", filepath.Join(o.Root, "..", "api"))
			edit(t, filepath.Join(o.Root, ".."), "api/core/v1/types.go", "type EnvVar struct {", "type EnvVar struct {\n\t// Fresh is new.\n\tFresh string `json:\"fresh\"`\n")
			write(t, o.Root, "go.mod", read(t, o.Root, "go.mod")+"\nreplace k8s.io/api => ../api\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "an API type" {
				skipIfShort(t, "it loads the types of many packages several times")
			}
			opts := Options{Env: os.Environ(), Root: fixture(t, "shapes"), CacheDir: cache}
			before := generate(t, opts)
			change(t, &opts)
			expectChange(t, opts, before)
		})
	}
}

// expectChange expects the result of an uncached run from a cached one, and a difference from before.
func expectChange(t *testing.T, opts Options, before map[string][]byte) map[string][]byte {
	t.Helper()
	uncached := opts
	uncached.CacheDir = ""
	want := generate(t, uncached)
	sameFiles(t, "with the old cache", generate(t, opts), want)
	sameFiles(t, "with the new cache", generate(t, opts), want)
	if fmt.Sprint(want) == fmt.Sprint(before) {
		t.Error("the change has no effect")
	}
	return want
}

// copyModule copies a module from the module cache to a directory, to edit it.
func copyModule(t *testing.T, module, to string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	from := strings.TrimSpace(string(out))
	for name, content := range tree(t, from) {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") || name == "go.mod" {
			write(t, to, name, string(content))
		}
	}
}

// TestChangedDependency edits a dependency that is not in the module cache, which changes nothing in the project.
func TestChangedDependency(t *testing.T) {
	skipIfShort(t, "it loads the types of many packages several times")
	t.Parallel()
	const old, new = "type EnvVar struct {", "type EnvVar struct {\n\t// Fresh is new.\n\tFresh []string `json:\"fresh\"`\n"
	t.Run("replaced", func(t *testing.T) {
		t.Parallel()
		opts := Options{Env: os.Environ(), Root: fixture(t, "shapes"), CacheDir: t.TempDir()}
		outside := filepath.Join(opts.Root, "..", "api")
		copyModule(t, "k8s.io/api", outside)
		write(t, opts.Root, "go.mod", read(t, opts.Root, "go.mod")+"\nreplace k8s.io/api => ../api\n")
		before := generate(t, opts)
		edit(t, outside, "core/v1/types.go", old, new)
		after := expectChange(t, opts, before)
		edit(t, outside, "core/v1/types.go", new, old)
		expectChange(t, opts, after)
	})
	t.Run("workspace", func(t *testing.T) {
		t.Parallel()
		opts := Options{Env: os.Environ(), Root: fixture(t, "shapes"), CacheDir: t.TempDir()}
		before := generate(t, opts)
		copyModule(t, "k8s.io/api", filepath.Join(opts.Root, "..", "api"))
		edit(t, filepath.Join(opts.Root, ".."), "api/core/v1/types.go", old, new)
		write(t, opts.Root, "../go.work", "go 1.26.0\n\nuse (\n\t./shapes\n\t./api\n)\n")
		after := expectChange(t, opts, before)
		edit(t, filepath.Join(opts.Root, ".."), "api/core/v1/types.go", new, old)
		expectChange(t, opts, after)
	})
	t.Run("vendored", func(t *testing.T) {
		t.Parallel()
		opts := Options{Env: os.Environ(), Root: fixture(t, "shapes"), CacheDir: t.TempDir()}
		vendor := exec.Command("go", "mod", "vendor")
		vendor.Dir = opts.Root
		if out, err := vendor.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		before := generate(t, opts)
		edit(t, opts.Root, "vendor/k8s.io/api/core/v1/types.go", old, new)
		expectChange(t, opts, before)
	})
}

// TestUnitsAreCached changes one API package and expects only its units to be added to the store.
func TestUnitsAreCached(t *testing.T) {
	t.Parallel()
	opts := Options{Env: os.Environ(), Root: fixture(t, "shapes"), CacheDir: t.TempDir()}
	count := func() int {
		entries, err := os.ReadDir(filepath.Join(opts.CacheDir, "units"))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	generate(t, opts)
	if n := count(); n != 5 {
		t.Fatalf("%d units, want the deepcopy methods of three packages and the CRDs of two groups", n)
	}
	edit(t, opts.Root, "api/cluster/v1alpha1/canvas_types.go", "imported", "fetched")
	generate(t, opts)
	if n := count(); n != 7 {
		t.Errorf("%d units after a change to one package, want 2 more", n)
	}
	edit(t, opts.Root, "internal/controller/shape_controller.go", "verbs=get;list", "verbs=list")
	generate(t, opts)
	if n := count(); n != 7 {
		t.Errorf("%d units after a change to a controller, want no more", n)
	}
}

// TestDamagedCache damages each entry of the cache in several ways, and expects the same result.
func TestDamagedCache(t *testing.T) {
	skipIfShort(t, "it loads the types of many packages several times")
	t.Parallel()
	opts := Options{Env: os.Environ(), Root: fixture(t, "shapes"), CacheDir: t.TempDir()}
	want := generate(t, opts)
	for name, damage := range map[string]func(name string, data []byte) error{
		"empty":     func(name string, _ []byte) error { return os.WriteFile(name, nil, 0o644) },
		"truncated": func(name string, data []byte) error { return os.WriteFile(name, data[:len(data)*2/3], 0o644) },
		"a changed bit": func(name string, data []byte) error {
			data[len(data)-len(data)/3] ^= 1
			return os.WriteFile(name, data, 0o644)
		},
		"another file": func(name string, _ []byte) error {
			return os.WriteFile(name, []byte("something else altogether, and long enough"), 0o644)
		},
		"a directory": func(name string, _ []byte) error {
			if err := os.Remove(name); err != nil {
				return err
			}
			return os.MkdirAll(filepath.Join(name, "below"), 0o755)
		},
	} {
		for file, content := range tree(t, opts.CacheDir) {
			if err := damage(filepath.Join(opts.CacheDir, filepath.FromSlash(file)), slices.Clone(content)); err != nil {
				t.Fatal(err)
			}
		}
		sameFiles(t, name, generate(t, opts), want)
		if name == "a directory" {
			if err := os.RemoveAll(opts.CacheDir); err != nil {
				t.Fatal(err)
			}
		}
		generate(t, opts)
	}
}

func TestUnusableCache(t *testing.T) {
	skipIfShort(t, "it loads the types of many packages several times")
	t.Parallel()
	dir := fixture(t, "nested")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	want := generate(t, Options{Env: os.Environ(), Root: dir})
	result := generate(t, Options{Env: os.Environ(), Root: dir, CacheDir: filepath.Join(file, "cache")})
	sameFiles(t, "a file instead of a directory", result, want)
}

func TestSharedCache(t *testing.T) {
	skipIfShort(t, "it loads the types of many packages several times")
	t.Parallel()
	cache, dir := t.TempDir(), fixture(t, "nested")
	want := generate(t, Options{Env: os.Environ(), Root: dir})
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			result, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir, CacheDir: cache})
			if err != nil {
				t.Error(err)
				return
			}
			sameFiles(t, "concurrently", result.Files, want)
		})
	}
	wait.Wait()
	for name := range tree(t, cache) {
		if strings.Contains(name, "new-") {
			t.Errorf("%s was not removed", name)
		}
	}
}

// TestBuildKey expects a build of the program not to use the cached results of another one.
func TestBuildKey(t *testing.T) {
	t.Parallel()
	opts := Options{Env: os.Environ(), Root: fixture(t, "shapes"), CacheDir: t.TempDir()}
	entries := func(build string) (n int) {
		opts.Build = build
		generate(t, opts)
		for name := range tree(t, opts.CacheDir) {
			if strings.HasPrefix(name, "results/") || strings.HasPrefix(name, "crds/") {
				n++
			}
		}
		return n
	}
	first := entries("one")
	if n := entries("one"); n != first || n == 0 {
		t.Errorf("the same build: %d entries, then %d", first, n)
	}
	if n := entries("two"); n != 2*first {
		t.Errorf("another build: %d entries, want twice the %d of one", n, first)
	}
}
