package cmd_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/pkg/manifest"
)

var update = flag.Bool("update", false, "rewrite golden trees and scripts with what the commands give now")

const goldenDir = "../testdata"

// goldenProjects are the whole trees below testdata; NAME.commands holds the commands that made NAME.
func goldenProjects(t *testing.T) []string {
	t.Helper()
	scripts, err := filepath.Glob(filepath.Join(goldenDir, "*.commands"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no golden projects in %s (%v)", goldenDir, err)
	}
	var names []string
	for _, s := range scripts {
		names = append(names, strings.TrimSuffix(filepath.Base(s), ".commands"))
	}
	return names
}

// projectModules fills the module cache with what scaffolded projects require, once for all tests:
// commands that create something open no socket, so they must find it there.
var projectModules = sync.OnceValue(func() error {
	c := exec.Command("go", "mod", "download")
	c.Dir = filepath.Join(goldenDir, "memcached-operator")
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go mod download in %s: %w\n%s", c.Dir, err, out)
	}
	return nil
})

// replay runs a golden project's commands in a new folder of that name and returns the folder. What is
// not a command of operon is one of the shell: a person's edits are patches in NAME.edits.
func replay(t *testing.T, name string) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(goldenDir, name+".commands"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	edits := filepath.Join(goldenDir, name+".edits")
	if err := os.CopyFS(dir+".edits", os.DirFS(edits)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(script)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "operon "):
			operon(t, dir, strings.Fields(line)...)
		default:
			shell(t, dir, line)
		}
	}
	return dir
}

// golden copies a golden project, which TestGolden holds to be what its commands make, and returns the folder.
func golden(t *testing.T, name string) string {
	t.Helper()
	return copyTree(t, filepath.Join(goldenDir, name))
}

// shell runs a line as a person would who has the usual umask, outside of any repository.
func shell(t *testing.T, dir, line string) {
	t.Helper()
	c := exec.Command("sh", "-c", "umask 022\n"+line)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// runOperon runs a command in this process, without a terminal and without input.
func runOperon(tb testing.TB, dir, cache string, args ...string) (code int, out, errOut string) {
	tb.Helper()
	env, err := cmd.System()
	if err != nil {
		tb.Fatal(err)
	}
	var o, e bytes.Buffer
	env.In, env.Out, env.Err = strings.NewReader(""), &o, &e
	env.InTerminal, env.OutTerminal, env.ErrTerminal = false, false, false
	env.InPipe, env.InFile = false, false
	env.Dir, env.CacheDir = dir, cache
	if args[0] == "bundle" { // it says when it was made
		env.Environ = append(env.Environ, "SOURCE_DATE_EPOCH=1767225600")
	}
	if err := projectModules(); err != nil {
		tb.Fatal(err)
	}
	code = cmd.Main(context.Background(), env, append([]string{"operon"}, args...))
	return code, o.String(), e.String()
}

// operon runs a command and fails the test unless it exits with 0.
func operon(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if args[0] == "operon" {
		args = args[1:]
	}
	code, out, errOut := runOperon(t, dir, "", args...)
	if code != 0 {
		t.Fatalf("operon %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

// operonFails runs a command that must be refused as bad input, and returns what it says.
func operonFails(t *testing.T, dir string, args ...string) string {
	t.Helper()
	code, out, errOut := runOperon(t, dir, "", args...)
	if code != 2 {
		t.Fatalf("operon %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errOut)
	}
	return errOut
}

// TestGolden replays the commands of every golden project and compares the trees, both ways.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range goldenProjects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := replay(t, name), filepath.Join(goldenDir, name)
			if *update {
				if err := os.RemoveAll(want); err != nil {
					t.Fatal(err)
				}
				if err := os.CopyFS(want, os.DirFS(got)); err != nil {
					t.Fatal(err)
				}
			}
			compareTrees(t, want, got)
			checkModes(t, got)
			checkFormat(t, got)
			checkOverlays(t, got)
		})
	}
}

// TestGoldenBuilds compiles, vets and tidies every golden project.
func TestGoldenBuilds(t *testing.T) {
	t.Parallel()
	for _, name := range goldenProjects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := golden(t, name)
			goRun(t, dir, nil, "build", "./...")
			goRun(t, dir, nil, "vet", "./...")
			goRun(t, dir, nil, "vet", "-tags=e2e", "./...")
			goRun(t, dir, nil, "mod", "tidy", "-diff")
		})
	}
}

// compareTrees fails for every file that only one side has, or whose bytes differ.
func compareTrees(t testing.TB, want, got string) {
	t.Helper()
	wantFiles, gotFiles := readTree(t, want), readTree(t, got)
	for _, name := range keysOf(wantFiles) {
		have, ok := gotFiles[name]
		switch {
		case !ok:
			t.Errorf("%s is in the golden tree but is not written", name)
		case have != wantFiles[name]:
			t.Errorf("%s differs from the golden tree (go test ./cmd -update rewrites it)", name)
		}
	}
	for _, name := range keysOf(gotFiles) {
		if _, ok := wantFiles[name]; !ok {
			t.Errorf("%s is written but is not in the golden tree", name)
		}
	}
}

// checkModes holds the scaffold to 0644 for files and 0755 for folders, whatever the umask.
func checkModes(t testing.TB, dir string) {
	t.Helper()
	walk(t, dir, func(p string, d fs.DirEntry) {
		info, err := d.Info()
		if err != nil {
			t.Fatal(err)
		}
		want := fs.FileMode(0o644)
		if d.IsDir() {
			want = 0o755
		}
		if p != dir && info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", p, info.Mode().Perm(), want)
		}
	})
}

func checkFormat(t testing.TB, dir string) {
	t.Helper()
	for name, content := range readTree(t, dir) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		formatted, err := format.Source([]byte(content))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if string(formatted) != content {
			t.Errorf("%s is not as gofmt writes it", name)
		}
	}
}

// checkOverlays builds every kustomization below config, of which there are many in our scaffold.
func checkOverlays(t testing.TB, dir string) {
	t.Helper()
	if n := checkKustomizations(t, dir); n < 8 {
		t.Errorf("found %d kustomizations, want at least 8", n)
	}
}

// checkKustomizations builds every kustomization below a folder and returns how many there are.
func checkKustomizations(t testing.TB, dir string) int {
	t.Helper()
	n := 0
	for name := range readTree(t, dir) {
		if filepath.Base(name) != "kustomization.yaml" {
			continue
		}
		n++
		if _, err := manifest.Build(dir, filepath.Dir(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return n
}

// goRun runs the go command of this machine and fails the test when it fails or, for -diff, prints.
func goRun(t testing.TB, dir string, env []string, args ...string) string {
	t.Helper()
	c := goCommand(dir, args...)
	c.Env = append(c.Env, env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// goCommand is the go command of this machine in a project.
func goCommand(dir string, args ...string) *exec.Cmd {
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local")
	return c
}

func readTree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	walk(t, dir, func(p string, d fs.DirEntry) {
		if d.IsDir() {
			return
		}
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(rel)] = string(data)
	})
	return files
}

func walk(t testing.TB, dir string, visit func(p string, d fs.DirEntry)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil {
			visit(p, d)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func keysOf(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
