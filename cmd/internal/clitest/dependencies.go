package clitest

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"golang.org/x/mod/modfile"
)

// compiling runs a compilation that may take minutes with a cold build cache. Only one of all test binaries does so at a time:
// the go command would compile the same packages once in each of two processes, and one process already uses all processors.
func compiling(compile func() error) error {
	locks, err := cacheDir("locks")
	if err != nil {
		return err
	}
	lock := flock.New(filepath.Join(locks, "compiling"))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // the end of the process unlocks it, too
	return compile()
}

// maxCompiled limits the entries of the cache of compiled dependencies.
const maxCompiled = 256

// CompileDependencies compiles what the packages and tests of a Go project import from other modules, unless a test has done
// so before. Call it before programs that build the project, such as run local, so that they don't compile the same packages
// at the same time. It is only a preparation: what does not compile is reported by these programs.
func CompileDependencies(t testing.TB, dir string) {
	t.Helper()
	key, ok := dependencyKey(t, dir)
	if testing.Short() || !ok {
		return
	}
	cache, err := cacheDir("compiled")
	if err != nil {
		t.Fatal(err)
	}
	compiled := filepath.Join(cache, key)
	if touch(compiled) {
		return
	}
	err = compiling(func() error {
		if touch(compiled) || compileImports(dir) != nil { // another test has compiled them in the meantime
			return nil
		}
		if err := os.WriteFile(compiled, nil, 0o644); err != nil {
			return err
		}
		return prune(cache, maxCompiled)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// compileImports compiles the packages of other modules that a project and its tests need. It doesn't change go.mod.
func compileImports(dir string) error {
	run := func(args ...string) (string, error) {
		c := GoCommand(dir, args...)
		c.Env = append(c.Env, "GOFLAGS="+BuildFlags)
		out, err := c.Output()
		return string(out), err
	}
	out, err := run("list", "-deps", "-test", "-f", "{{with .Module}}{{if not .Main}}{{$.ImportPath}}{{end}}{{end}}", "./...")
	packages := strings.Fields(out)
	if err != nil || len(packages) == 0 {
		return err
	}
	_, err = run(append([]string{"build", "-o", os.DevNull}, packages...)...)
	return err
}

// dependencyKey hashes the requirements of a project and the packages that it imports from other modules. It returns false
// without a valid go.mod.
func dependencyKey(t testing.TB, dir string) (string, bool) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", false
	}
	mod, err := modfile.Parse("go.mod", data, nil)
	if err != nil || mod.Module == nil {
		return "", false
	}
	words := map[string]bool{}
	for _, r := range mod.Require {
		words[r.Mod.String()] = true
	}
	for _, r := range mod.Replace {
		words[r.Old.String()+" => "+r.New.String()] = true
	}
	own := mod.Module.Mod.Path
	for name, text := range ReadTree(t, dir) {
		if path.Ext(name) != ".go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			continue
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			first, _, _ := strings.Cut(imported, "/")
			if err == nil && strings.Contains(first, ".") && imported != own && !strings.HasPrefix(imported, own+"/") {
				words[imported] = true
			}
		}
	}
	return cacheKey(nil, slices.Sorted(maps.Keys(words))...), true
}
