package typecheck

import (
	"context"
	"go/ast"
	"go/types"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// TestNotPassed expects code to be checked again if something outside of the key of its entry decides about it, or if the caller
// needs its types.
func TestNotPassed(t *testing.T) {
	t.Parallel()
	archive := `
-- project/go.mod --
module example.com/project

go 1.24
-- project/a.go --
package project

import _ "errors"

func F()
-- project/a.s --
`
	p := newRepeated(t, archive, t.TempDir())
	for range 2 {
		if p.expect() != 1 {
			t.Error("libraries were not loaded for code that needs assembly")
		}
	}
	p.remove("project/a.s")
	p.expect("a.go:5: missing function body")

	p.write("project/a.go", "package project\n\nimport _ \"errors\"\n")
	p.pass()
	if p.checker.Version = "2"; p.expect() != 1 {
		t.Error("libraries were not loaded for another version of the program")
	}
	m, err := gosource.ReadModule(p.tree())
	if err != nil {
		t.Fatal(err)
	}
	libraries, err := p.checker.Load(t.Context(), p.tree(), m)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	if found, err := libraries.Check(t.Context(), m, info); err != nil || len(found) > 0 || len(info.Defs) == 0 {
		t.Errorf("got %v, %v, %v", found, err, info.Defs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := libraries.Check(ctx, m, nil); err != context.Canceled {
		t.Errorf("got %v from a canceled check", err)
	}
}

// TestPassedElsewhere expects a copy of a project to need neither the go command nor libraries, except if packages are looked for
// relative to it.
func TestPassedElsewhere(t *testing.T) {
	t.Parallel()
	const project = `
-- project/go.mod --
module example.com/project

go 1.24
-- project/a.go --
package project

import _ "errors"
`
	for name, test := range map[string]struct {
		archive string
		lists   int
	}{
		"libraries": {project, 0},
		"vendor":    {project + "-- project/vendor/modules.txt --\n", 1},
		"workspace": {project + "-- go.work --\ngo 1.24\n\nuse ./project\n", 1},
		"replaced":  {strings.Replace(project, "go 1.24", "go 1.24\n\nreplace example.com/lib => ../lib", 1) + "-- lib/go.mod --\nmodule example.com/lib\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache := t.TempDir()
			newRepeated(t, test.archive, cache, "GOFLAGS=").pass()
			elsewhere := newRepeated(t, test.archive, cache, "GOFLAGS=")
			elsewhere.expect()
			if elsewhere.lists != test.lists || elsewhere.loads != 0 {
				t.Errorf("got %d calls of go list, want %d, and loaded libraries %d times", elsewhere.lists, test.lists, elsewhere.loads)
			}
		})
	}
}
