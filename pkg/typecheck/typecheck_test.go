package typecheck

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// newChecker returns a checker with additional variables.
func newChecker(cache string, environ ...string) Checker {
	environ = slices.Concat(os.Environ(), []string{"GOPROXY=off", "GOFLAGS=-mod=mod"}, environ)
	return Checker{CacheDir: cache, Environ: environ, Go: gotool.Go{Offline: true, Progress: io.Discard, Start: func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
		c := exec.CommandContext(ctx, "go", args...)
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, slices.Concat(environ, variables), out, errOut
		return c.Run()
	}}}
}

// unpack writes the files of an archive to a new directory.
func unpack(t testing.TB, archive *txtar.Archive) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range archive.Files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestCheck checks the projects in testdata/check. A comment "want: TEXT" at the end of a line is an error that is expected
// there; the comment of the archive holds variables of the environment. Each project is checked without a cache, with an empty
// one and with a full one.
func TestCheck(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join("testdata", "check", "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			root := unpack(t, archive)
			dir := root
			if _, err := os.Stat(filepath.Join(root, "project")); err == nil {
				dir = filepath.Join(root, "project") // others are beside it
			}
			var want []string
			tree := worktree.NewTree(afero.NewOsFs(), dir)
			m, err := gosource.ReadModule(tree)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range m.Names() {
				for i, line := range strings.Split(string(m.Files[name].Text), "\n") {
					if _, text, ok := strings.Cut(line, "// want: "); ok {
						want = append(want, fmt.Sprintf("%s:%d: %s", name, i+1, text))
					}
				}
			}
			var variables []string
			for line := range strings.Lines(string(archive.Comment)) {
				if text, ok := strings.CutPrefix(strings.TrimSpace(line), "# want: "); ok { // not at a line
					want = append(want, text)
				}
				if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") && line != "" {
					variables = append(variables, line)
				}
			}
			if _, err := exec.LookPath("gcc"); err != nil && slices.Contains(variables, "CGO_ENABLED=1") {
				t.Skip("no C compiler")
			}
			cache := t.TempDir()
			for _, c := range []Checker{newChecker("", variables...), newChecker(cache, variables...), newChecker(cache, variables...)} {
				found, err := c.Check(t.Context(), tree)
				if err != nil {
					t.Fatal(err)
				}
				compareFindings(t, found, want)
			}
		})
	}
}

// compareFindings compares findings with places and the start of their problems.
func compareFindings(t *testing.T, found diag.Findings, want []string) {
	t.Helper()
	left := slices.Clone(want)
	for _, f := range found {
		text := fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Problem)
		i := slices.IndexFunc(left, func(w string) bool { return strings.HasPrefix(text, w) })
		if i < 0 {
			t.Errorf("found %s", text)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, w := range left {
		t.Errorf("not found: %s", w)
	}
}

// TestTogether checks one project in several goroutines that share an empty cache.
func TestTogether(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "check", "declarations.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	root, cache := unpack(t, archive), t.TempDir()
	want, err := newChecker("").Check(t.Context(), worktree.NewTree(afero.NewOsFs(), filepath.Join(root, "project")))
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			got, err := newChecker(cache).Check(t.Context(), worktree.NewTree(afero.NewOsFs(), filepath.Join(root, "project")))
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
	wait.Wait()
}

// TestRequirements checks a tree whose go.mod is not on disk, in a module and in a workspace.
func TestRequirements(t *testing.T) {
	t.Parallel()
	for _, workspace := range []bool{false, true} {
		root := unpack(t, txtar.Parse([]byte(`
-- project/go.mod --
module example.com/project

go 1.24
-- project/a.go --
package project

import "example.com/lib"

var _ int = lib.V
-- lib/go.mod --
module example.com/lib

go 1.24
-- lib/lib.go --
package lib

const V = 1
-- other/go.mod --
module example.com/other

go 1.24
`)))
		c := newChecker("")
		if workspace {
			if err := os.WriteFile(filepath.Join(root, "go.work"), []byte("go 1.24\n\nuse (\n\t./project\n\t./other\n)\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			c = newChecker("", "GOFLAGS=")
		}
		tree := worktree.NewTree(afero.NewOsFs(), filepath.Join(root, "project"))
		found, err := c.Check(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		compareFindings(t, found, []string{"a.go:3: could not import example.com/lib (no module of go.mod provides it"})
		tree.WriteFile("go.mod", []byte("module example.com/project\n\ngo 1.24\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../lib\n"), 0o644)
		if found, err = c.Check(t.Context(), tree); err != nil || len(found) > 0 {
			t.Errorf("workspace %t: got %v, %v", workspace, found, err)
		}
	}
}

// TestCanceled expects a canceled check to end with the error of its context.
func TestCanceled(t *testing.T) {
	t.Parallel()
	root := unpack(t, txtar.Parse([]byte("-- go.mod --\nmodule example.com/project\n-- a.go --\npackage project\n\nimport _ \"net/http\"\n")))
	ctx, cancel := context.WithCancel(t.Context())
	c := newChecker("")
	c.Report = func(_ func() string, step func() error) error {
		cancel()
		return step()
	}
	if _, err := c.Check(ctx, worktree.NewTree(afero.NewOsFs(), root)); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// TestProgress expects a description that counts packages.
func TestProgress(t *testing.T) {
	t.Parallel()
	root := unpack(t, txtar.Parse([]byte("-- go.mod --\nmodule example.com/project\n-- a.go --\npackage project\n\nimport _ \"errors\"\n")))
	var text string
	c := newChecker("")
	c.Report = func(describe func() string, step func() error) error {
		err := step()
		text = describe()
		return err
	}
	if _, err := c.Check(t.Context(), worktree.NewTree(afero.NewOsFs(), root)); err != nil {
		t.Fatal(err)
	}
	var done, total int
	if _, err := fmt.Sscanf(text, "checking types: %d of %d packages", &done, &total); err != nil || done != total || done == 0 {
		t.Errorf("got %q", text)
	}
}
