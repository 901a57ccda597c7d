package gotool

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// fixture is a project that requires modules of a proxy in a directory, and a module cache.
type fixture struct {
	t             *testing.T
	proxy, cache  string
	dir           string
	progress, log bytes.Buffer
}

// newFixture makes a proxy with example.com/old, and example.com/lib, a package of which imports example.com/dep.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, proxy: t.TempDir(), cache: t.TempDir(), dir: t.TempDir()}
	f.serve("example.com/old", "package old\n", "")
	f.serve("example.com/dep", "package dep\n", "")
	f.serve("example.com/lib", "package lib\n\nimport _ \"example.com/dep\"\n", "require example.com/dep v1.0.0\n")
	return f
}

// serve adds version v1.0.0 of a module to the proxy.
func (f *fixture) serve(path, code, require string) {
	f.t.Helper()
	mod := "module " + path + "\n\ngo 1.26\n\n" + require
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for name, text := range map[string]string{"go.mod": mod, "code.go": code} {
		file, err := w.Create(path + "@v1.0.0/" + name)
		if err == nil {
			_, err = io.WriteString(file, text)
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.t.Fatal(err)
	}
	f.write(filepath.Join(f.proxy, path, "@v"), map[string]string{
		"list": "v1.0.0\n", "v1.0.0.info": `{"Version":"v1.0.0"}`, "v1.0.0.mod": mod, "v1.0.0.zip": archive.String(),
	})
}

func (f *fixture) write(dir string, files map[string]string) {
	f.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
}

// tool runs the go command with the fixture's proxy and module cache.
func (f *fixture) tool(variables ...string) Go {
	env := slices.Concat(os.Environ(), []string{
		"GOPROXY=file://" + filepath.ToSlash(f.proxy), "GOSUMDB=off", "GOMODCACHE=" + f.cache, "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local",
	}, variables)
	return Go{Progress: &f.progress, Start: func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
		c := exec.CommandContext(ctx, "go", args...)
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, slices.Concat(env, variables), out, errOut
		fmt.Fprintln(&f.log, strings.Join(args[:2], " "))
		return c.Run()
	}}
}

const untidyMod = "module m.example/m\n\ngo 1.26\n\nrequire (\n\texample.com/lib v1.0.0\n\texample.com/old v1.0.0\n)\n"

// tree is a project whose changes are not on disk: there it imports another module.
func (f *fixture) tree(code string) *worktree.Tree {
	f.t.Helper()
	f.write(f.dir, map[string]string{
		"m.go": "package m\n\nimport _ \"example.invalid/x\"\n", "gone.go": "package m\n\nimport _ \"example.invalid/y\"\n",
	})
	tree := worktree.NewTree(afero.NewOsFs(), f.dir)
	tree.WriteFile("go.mod", []byte(untidyMod), 0o644)
	tree.WriteFile("m.go", []byte(code), 0o644)
	tree.Remove("gone.go")
	return tree
}

const usesLib = "package m\n\nimport _ \"example.com/lib\"\n"

// TestTidy gives the same result with an empty module cache and with a full one, which it needs no proxy for.
func TestTidy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	cold := f.tree(usesLib)
	if err := f.tool().Tidy(t.Context(), cold); err != nil {
		t.Fatal(err)
	}
	mod := string(cold.Edits()["go.mod"])
	want := "module m.example/m\n\ngo 1.26\n\nrequire example.com/lib v1.0.0\n\nrequire example.com/dep v1.0.0 // indirect\n"
	if mod != want {
		t.Errorf("go.mod:\n%s", mod)
	}
	if sum := string(cold.Edits()["go.sum"]); !strings.Contains(sum, "example.com/dep v1.0.0 h1:") || strings.Contains(sum, "example.com/old") {
		t.Errorf("go.sum:\n%s", sum)
	}
	for _, line := range []string{"downloading example.com/lib v1.0.0\n", "downloading example.com/dep v1.0.0\n"} {
		if strings.Count(f.progress.String(), line) != 1 {
			t.Errorf("progress is\n%s", f.progress.String())
		}
	}
	if _, err := os.Stat(filepath.Join(f.dir, "go.mod")); err == nil {
		t.Error("go.mod was written to the disk")
	}
	f.progress.Reset()
	f.log.Reset()
	warm := f.tree(usesLib)
	if err := f.tool("GOPROXY=off").Tidy(t.Context(), warm); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if !bytes.Equal(cold.Edits()[name], warm.Edits()[name]) {
			t.Errorf("%s differs:\n%s\nwith a full module cache:\n%s", name, cold.Edits()[name], warm.Edits()[name])
		}
	}
	if f.progress.Len() > 0 || f.log.String() != "env -json\nmod tidy\n" {
		t.Errorf("with a full module cache:\n%s%s", f.log.String(), f.progress.String())
	}
}

// TestMissing names the modules that may not be downloaded, and leaves go.mod as it is.
func TestMissing(t *testing.T) {
	t.Parallel()
	const list = "the module cache lacks 2 modules: example.com/lib@v1.0.0, example.com/dep@v1.0.0; "
	for _, test := range []struct {
		name, proxy string
		offline     bool
		want        string
	}{
		{"--offline", "", true, list + "run the command again without --offline to download them"},
		{"GOPROXY=off", "off", false, list + "GOPROXY=off forbids downloading them: unset it or set it to a module proxy, and run the command again"},
		{"no proxy", "file://" + filepath.ToSlash(t.TempDir()), false, list + "downloading them failed: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			tree := f.tree(usesLib)
			if err := f.tool().Tidy(t.Context(), tree); err != nil {
				t.Fatal(err)
			}
			tidied := string(tree.Edits()["go.mod"])
			f.cache = t.TempDir()
			g := f.tool()
			if test.proxy != "" {
				g = f.tool("GOPROXY=" + test.proxy)
			}
			g.Offline = test.offline
			for _, run := range []func(context.Context, *worktree.Tree) error{g.Tidy, g.Download} {
				err := run(t.Context(), tree)
				if _, ok := errors.AsType[*MissingError](err); !ok || !strings.HasPrefix(err.Error(), test.want) {
					t.Errorf("got %v", err)
				}
				if mod := string(tree.Edits()["go.mod"]); mod != tidied {
					t.Errorf("go.mod became\n%s", mod)
				}
			}
		})
	}
}

// TestUnknownImport holds that no proxy decides which module provides a package.
func TestUnknownImport(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve("example.com/unknown", "package unknown\n", "")
	for range 2 { // with an empty module cache and a full one
		tree := f.tree(usesLib + "import _ \"example.com/unknown\"\n")
		err := f.tool().Tidy(t.Context(), tree)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.HasSuffix(err.Error(), "cannot find module providing package example.com/unknown") {
			t.Errorf("got %v", err)
		}
		if mod := string(tree.Edits()["go.mod"]); mod != untidyMod {
			t.Errorf("go.mod became\n%s", mod)
		}
	}
}

// TestChecksumsOffline holds that no checksum database is asked without a network.
func TestChecksumsOffline(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if err := f.tool().Tidy(t.Context(), f.tree(usesLib)); err != nil {
		t.Fatal(err)
	}
	for _, database := range []string{"sum.golang.org", "sum.golang.google.cn"} {
		g := f.tool("GOSUMDB=" + database)
		g.Offline = true
		err := g.Tidy(t.Context(), f.tree(usesLib))
		if _, ok := errors.AsType[*MissingError](err); !ok {
			t.Errorf("%s: got %v", database, err)
		}
	}
}

// TestDownload downloads what the packages of a tree need, and nothing where the module cache holds it.
func TestDownload(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tree := f.tree(usesLib)
	if err := f.tool().Tidy(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	f.cache = t.TempDir()
	f.progress.Reset()
	for range 2 {
		if err := f.tool().Download(t.Context(), tree); err != nil {
			t.Fatal(err)
		}
		if got := f.progress.String(); strings.Count(got, "downloading ") != 2 {
			t.Errorf("progress is\n%s", got)
		}
	}
}

// TestGet adds the latest version of a module that provides a package, and reports why it cannot.
func TestGet(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, path := range []string{"example.com/lib", "example.com/lib@v1.0.0"} {
		tree := f.tree(usesLib)
		tree.WriteFile("go.mod", []byte("module m.example/m\n\ngo 1.26\n"), 0o644)
		if err := f.tool().Get(t.Context(), tree, path); err != nil {
			t.Fatal(err)
		}
		if mod := string(tree.Edits()["go.mod"]); !strings.Contains(mod, "example.com/lib v1.0.0") {
			t.Errorf("%s: go.mod:\n%s", path, mod)
		}
	}
	for _, test := range []struct{ path, proxy, want string }{
		{"example.com/lib", "off", "the module cache lacks 1 module: example.com/lib; GOPROXY=off forbids"},
		{"example.com/unknown", "", "the module cache lacks 1 module: example.com/unknown; downloading them failed: "},
	} {
		g := f.tool()
		if test.proxy != "" {
			g = f.tool("GOPROXY=" + test.proxy)
		}
		err := g.Get(t.Context(), f.tree(usesLib), test.path)
		if _, ok := errors.AsType[*MissingError](err); !ok || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v", test.path, err)
		}
	}
}

// TestDownloadOfNestedModules downloads what a module in a directory of another one needs.
func TestDownloadOfNestedModules(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tree := f.tree("package m\n")
	tree.WriteFile("go.mod", []byte("module m.example/m\n\ngo 1.26\n"), 0o644)
	f.write(filepath.Join(f.dir, "api"), map[string]string{
		"go.mod": "module m.example/m/api\n\ngo 1.26\n\nrequire example.com/old v1.0.0\n", "api.go": "package api\n\nimport _ \"example.com/old\"\n",
	})
	get := exec.CommandContext(t.Context(), "go", "mod", "tidy")
	get.Dir = filepath.Join(f.dir, "api")
	get.Env = append(os.Environ(), "GOPROXY=file://"+filepath.ToSlash(f.proxy), "GOSUMDB=off", "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw")
	if out, err := get.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := f.tool().Download(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	if got := f.progress.String(); got != "downloading example.com/old v1.0.0\n" {
		t.Errorf("progress is\n%s", got)
	}
}

// TestListWithoutInfoFiles lists modules whose .info files are missing in the module cache, as go build leaves it with a complete go.sum.
func TestListWithoutInfoFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tree := f.tree(usesLib)
	if err := f.tool().Tidy(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	edits := tree.Edits()
	f.write(f.dir, map[string]string{"go.mod": string(edits["go.mod"]), "go.sum": string(edits["go.sum"]), "m.go": usesLib, "gone.go": "package m\n"})
	info := filepath.Join(f.cache, "cache", "download", "example.com", "lib", "@v", "v1.0.0.info")
	list := Command{Dir: f.dir, Args: []string{"list", "-e", "-deps", "-json=ImportPath,Module,Error", "."}}
	offline := f.tool()
	offline.Offline = true
	for _, tool := range []Go{offline, f.tool()} {
		if _, err := os.Stat(info); err == nil {
			t.Fatal("the time of the release was downloaded")
		}
		if out, err := tool.Run(t.Context(), list); err != nil || !strings.Contains(string(out), `"ImportPath": "example.com/lib"`) {
			t.Errorf("got %s, %v", out, err)
		}
	}
}

func TestUnnamedModules(t *testing.T) {
	t.Parallel()
	const want = "the module cache lacks modules that the go command did not name; run the command again without --offline to download them"
	if got := (&MissingError{Forbidden: offlineFlag}).Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
