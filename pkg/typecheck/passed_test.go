package typecheck

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// A repeated is a project that is checked again and again with one cache.
type repeated struct {
	t       *testing.T
	root    string
	checker Checker
	// edits are files of the project that aren't on disk.
	edits map[string]string
	// lists and loads count calls of go list, and how often the types of libraries were loaded.
	lists, loads int
}

// newRepeated returns the project in a directory of an archive, with additional variables.
func newRepeated(t *testing.T, archive, cache string, environ ...string) *repeated {
	t.Helper()
	p := &repeated{t: t, root: unpack(t, txtar.Parse([]byte(archive))), edits: map[string]string{}}
	p.checker.CacheDir = cache
	p.setenv(environ...)
	p.checker.Report = func(_ func() string, step func() error) error {
		p.loads++
		return step()
	}
	return p
}

func (p *repeated) tree() *worktree.Tree {
	tree := worktree.NewTree(afero.NewOsFs(), filepath.Join(p.root, "project"))
	for name, text := range p.edits {
		tree.WriteFile(name, []byte(text), 0o644)
	}
	return tree
}

// expect checks the project and compares the findings. It returns the number of times that libraries were loaded.
func (p *repeated) expect(want ...string) int {
	p.t.Helper()
	before := p.loads
	found, err := p.checker.Check(p.t.Context(), p.tree())
	if err != nil {
		p.t.Fatal(err)
	}
	compareFindings(p.t, found, want)
	return p.loads - before
}

// pass expects two checks without findings, the second without loading libraries.
func (p *repeated) pass() {
	p.t.Helper()
	p.expect()
	if p.expect() != 0 {
		p.t.Error("libraries were loaded for code that has passed")
	}
}

// setenv adds variables to the ones that all checks have.
func (p *repeated) setenv(environ ...string) {
	c := newChecker("", append([]string{"CGO_ENABLED=0", "GOARCH=amd64"}, environ...)...)
	p.checker.Environ, p.checker.Go = c.Environ, c.Go
	p.checker.Go.Start = func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
		if args[0] == "list" {
			p.lists++
		}
		return c.Go.Start(ctx, dir, variables, out, errOut, args...)
	}
}

func (p *repeated) write(name, text string) {
	p.t.Helper()
	name = filepath.Join(p.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *repeated) remove(name string) {
	p.t.Helper()
	if err := os.Remove(filepath.Join(p.root, filepath.FromSlash(name))); err != nil {
		p.t.Fatal(err)
	}
}

// TestPassed changes each input of a check after code has passed, and expects the error to be found that follows from it.
func TestPassed(t *testing.T) {
	t.Parallel()
	archive, err := os.ReadFile(filepath.Join("testdata", "passed.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	const wrongType = "a.go:13: invalid operation: lib.New() + sub.V"
	for name, test := range map[string]struct {
		change func(p *repeated)
		want   string
	}{
		"file": {func(p *repeated) { p.write("project/sub/sub.go", "package sub\n\nconst V = \"\"\n") }, wrongType},
		"edit": {func(p *repeated) { p.edits["sub/sub.go"] = "package sub\n\nconst V = \"\"\n" }, wrongType},
		"new file": {func(p *repeated) { p.write("project/b.go", "package project\n\nvar A int\n") },
			"b.go:3: A redeclared"},
		"test": {func(p *repeated) { p.write("project/a_test.go", "package project\n\nvar _ = B\n") },
			"a_test.go:3: undefined: B"},
		"external test": {func(p *repeated) {
			p.write("project/x_test.go", "package project_test\n\nimport \"example.com/project\"\n\nvar _ = project.B\n")
		}, "x_test.go:5: undefined: project.B"},
		"embedded file": {func(p *repeated) { p.remove("project/data.txt") },
			"a.go:10: pattern data.txt: no matching files found"},
		"nested module": {func(p *repeated) { p.write("project/sub/go.mod", "module example.com/project/sub\n") },
			"a.go:7: could not import example.com/project/sub (no module"},
		"file name": {func(p *repeated) {
			p.remove("project/a_plan9.go")
			p.write("project/a_system.go", "package project\n\nvar _ = undefinedOnPlan9\n")
		}, "a_system.go:3: undefined: undefinedOnPlan9"},
		"library": {func(p *repeated) { p.write("lib/lib.go", "package lib\n\nfunc New() string { return \"\" }\n") }, wrongType},
		"new file of a library": {func(p *repeated) { p.write("lib/other.go", "package lib\n\nvar V undefined\n") },
			"a.go:6: could not import example.com/lib (example.com/lib@v0.0.0 does not compile"},
		"replacement": {func(p *repeated) {
			p.edits["go.mod"] = "module example.com/project\n\ngo 1.24\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../other\n"
		}, wrongType},
		"version of Go": {func(p *repeated) {
			p.edits["go.mod"] = "module example.com/project\n\ngo 1.21\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../lib\n" +
				"require k8s.io/api v0.0.0\n\nreplace k8s.io/api => ../api\n"
		}, "a.go:16: cannot range over 3"},
		"module path": {func(p *repeated) {
			p.edits["go.mod"] = "module example.com/renamed\n\ngo 1.24\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../lib\n" +
				"require k8s.io/api v0.0.0\n\nreplace k8s.io/api => ../api\n"
		}, "a.go:7: could not import example.com/project/sub (no module\n" +
			"x_test.go:3: could not import example.com/project (no module"},
		"tags":        {func(p *repeated) { p.checker.Tags = []string{"extra"} }, "tagged.go:5: undefined: undefinedWithTag"},
		"GOFLAGS":     {func(p *repeated) { p.setenv("GOFLAGS=-mod=mod -tags=extra") }, "tagged.go:5: undefined: undefinedWithTag"},
		"GOOS":        {func(p *repeated) { p.setenv("GOOS=plan9") }, "a_plan9.go:3: undefined: undefinedOnPlan9"},
		"CGO_ENABLED": {func(p *repeated) { p.setenv("CGO_ENABLED=1") }, "a_cgo.go:5: undefined: undefinedWithCgo"},
		"GOARCH": {func(p *repeated) { p.setenv("GOARCH=386") },
			"size.go:3: cannot use 1 << 40"},
		"bodies": {func(p *repeated) { p.checker.Bodies = true },
			"a.go:6: could not import example.com/lib (example.com/lib@v0.0.0 does not compile with the versions in go.mod: undefined: v1.Gone"},
		"workspace": {func(p *repeated) {
			p.write("go.work", "go 1.24\n\nuse ./project\n\nuse ./other\n\nreplace k8s.io/api => ./api\n")
			p.setenv("GOFLAGS=")
		}, wrongType},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newRepeated(t, string(archive), t.TempDir())
			p.pass()
			test.change(p)
			for range 2 { // errors are not recorded
				if p.expect(strings.Split(test.want, "\n")...) != 1 {
					t.Error("libraries were not loaded")
				}
			}
		})
	}
}

// TestPassedVendored changes a vendored package after code has passed.
func TestPassedVendored(t *testing.T) {
	t.Parallel()
	p := newRepeated(t, `
-- project/go.mod --
module example.com/project

go 1.24

require example.com/lib v1.0.0
-- project/vendor/modules.txt --
# example.com/lib v1.0.0
## explicit
example.com/lib
-- project/vendor/example.com/lib/lib.go --
package lib

const V = 1
-- project/a.go --
package project

import "example.com/lib"

var _ int = lib.V
`, t.TempDir(), "GOFLAGS=-mod=vendor")
	p.pass()
	p.write("project/vendor/example.com/lib/lib.go", "package lib\n\nconst V = \"\"\n")
	p.expect("a.go:5: cannot use lib.V")
}

// TestPassedToolchain changes the standard library and the version of Go after code has passed.
func TestPassedToolchain(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	from, root := strings.TrimSpace(string(out)), t.TempDir()
	link := func(dir string, except ...string) {
		entries, err := os.ReadDir(filepath.Join(from, dir))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			name := filepath.Join(dir, entry.Name())
			if slices.Contains(except, entry.Name()) {
				continue
			}
			if err := os.Symlink(filepath.Join(from, name), filepath.Join(root, name)); err != nil {
				t.Skip("no symbolic links:", err)
			}
		}
	}
	link(".", "src", "VERSION")
	link("src", "embed")
	p := newRepeated(t, `
-- project/go.mod --
module example.com/project

go 1.24
-- project/a.go --
package project

import "embed"

var _ embed.FS
`, t.TempDir(), "GOROOT="+root)
	install := func(version, text string) {
		t.Helper()
		for name, text := range map[string]string{"VERSION": version, "src/embed/embed.go": text} {
			name = filepath.Join(root, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	install("go1.99.1", "package embed\n\ntype FS struct{}\n")
	p.pass()
	install("go1.99.2", "package embed\n")
	p.expect("a.go:5: undefined: embed.FS")
}
