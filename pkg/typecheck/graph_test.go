package typecheck

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestChanged expects a check after changes of files whose content the cache depends on to see them.
func TestChanged(t *testing.T) {
	t.Parallel()
	root := unpack(t, txtar.Parse([]byte(`
-- project/go.mod --
module example.com/project

go 1.24

require example.com/lib v0.0.0

replace example.com/lib => ../lib
-- project/a.go --
package project

import "example.com/lib"

var A int = lib.New()
-- lib/go.mod --
module example.com/lib
-- lib/lib.go --
package lib

func New() int { return 0 }
`)))
	cache := t.TempDir()
	lists := 0
	check := func(want ...string) {
		t.Helper()
		c := newChecker(cache)
		start := c.Go.Start
		c.Go.Start = func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
			if args[0] == "list" {
				lists++
			}
			return start(ctx, dir, variables, out, errOut, args...)
		}
		found, err := c.Check(t.Context(), worktree.NewTree(afero.NewOsFs(), filepath.Join(root, "project")))
		if err != nil {
			t.Fatal(err)
		}
		compareFindings(t, found, want)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, filepath.FromSlash(name))), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check()
	check()
	if lists != 1 {
		t.Errorf("go list ran %d times for two checks, want 1", lists)
	}
	write("lib/lib.go", "package lib\n\nfunc New() string { return \"\" }\n")
	check("a.go:5: cannot use lib.New() (value of type string) as int value")
	write("lib/lib.go", "package lib\n\nfunc New() int { return undefined }\n")
	check()
	write("lib/other.go", "package lib\n\nvar Other undefined\n")
	check("a.go:3: could not import example.com/lib (example.com/lib@v0.0.0 does not compile")
	write("lib/other.go", "//go:build none\n\npackage lib\n")
	check()
	write("lib/deep/deep.go", "package deep\n\ntype T int\n")
	write("lib/other.go", "package lib\n\nimport \"example.com/lib/deep\"\n\nvar Other deep.T\n")
	write("project/a.go", "package project\n\nimport \"example.com/lib\"\n\nvar A string = lib.Other\n")
	check("a.go:5: cannot use lib.Other (variable of int type deep.T) as string value")
	if err := os.Remove(filepath.Join(root, "lib", "other.go")); err != nil {
		t.Fatal(err)
	}
	check("a.go:5: undefined: lib.Other")
}

// TestBodies expects errors in function bodies of a library that uses Kubernetes' libraries to count if wanted, wherever it is
// imported.
func TestBodies(t *testing.T) {
	t.Parallel()
	root := unpack(t, txtar.Parse([]byte(`
-- project/go.mod --
module example.com/project

go 1.24

require (
	example.com/lib v0.0.0
	example.com/outer v0.0.0
	k8s.io/api v0.0.0
)

replace (
	example.com/lib => ../lib
	example.com/outer => ../outer
	k8s.io/api => ../api
)
-- project/a.go --
package project

import _ "example.com/outer"
-- outer/go.mod --
module example.com/outer
-- outer/outer.go --
package outer

import "example.com/lib"

func F() { lib.F() }

func G() { undefinedButWithoutKubernetes() }
-- lib/go.mod --
module example.com/lib
-- lib/lib.go --
package lib

import v1 "k8s.io/api/core/v1"

func F() { v1.Gone() }
-- api/go.mod --
module k8s.io/api
-- api/core/v1/v1.go --
package v1

func f() { undefined() }
`)))
	cache := t.TempDir()
	for range 2 {
		for _, bodies := range []bool{false, true} {
			c := newChecker(cache)
			var want []string
			if c.Bodies = bodies; bodies {
				want = []string{"a.go:3: could not import example.com/outer (example.com/lib@v0.0.0 does not compile with the versions in go.mod: undefined: v1.Gone; require"}
			}
			found, err := c.Check(t.Context(), worktree.NewTree(afero.NewOsFs(), filepath.Join(root, "project")))
			if err != nil {
				t.Fatal(err)
			}
			compareFindings(t, found, want)
		}
	}
}
