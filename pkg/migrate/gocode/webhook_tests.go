package gocode

import (
	"fmt"
	"go/ast"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// moveTests moves the tests that need the set-up of webhooks, the suite and its specs, to where that is now. Other
// tests stay beside the types.
func (w *Webhooks) moveTests(pkg *apiPackage, today map[string][]byte) {
	moving := pkg.movingTests()
	for _, f := range pkg.tests {
		if !moving[f.Name] {
			continue
		}
		name := path.Join(pkg.target, path.Base(f.Name))
		if at, what := pkg.tied(f, moving); what != "" {
			w.notes = append(w.notes, Note{File: f.Name, Line: f.Line(at.Pos()), Message: fmt.Sprintf(
				"these tests stay here, without the suite of the webhooks: they use %s of this package; move them to %s by hand", what, pkg.target)})
			continue
		}
		if w.tree.Exists(name) {
			w.notes = append(w.notes, Note{File: f.Name, Message: "stays here, as there is " + name + " already; make one of both by hand"})
			continue
		}
		text, ok := pkg.todaysSuite(f, today[name], w.program)
		if !ok {
			pkg.relocate(f)
			text = f.bytes()
			if path.Base(name) == suiteFile {
				w.notes = append(w.notes, Note{File: name, Message: "keeps its form, as it was edited"})
			}
		}
		w.tree.Move(f.Name, name, text)
	}
	for _, f := range pkg.outer {
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if e, ok := n.(*ast.SelectorExpr); ok && w.setupOf(f, e) != nil {
				w.notes = append(w.notes, Note{File: f.Name, Line: f.Line(e.Pos()), Message: "move these tests to " + pkg.target + " by hand"})
				return false
			}
			return true
		})
	}
}

// movingTests names the test files that call a set-up that moved, those that share declarations with them, and specs
// that only their suite runs.
func (pkg *apiPackage) movingTests() map[string]bool {
	moving := map[string]bool{}
	for _, f := range pkg.tests {
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok && pkg.setupOf(f, e) != nil {
				moving[f.Name] = true
			}
			return true
		})
	}
	if len(moving) == 0 {
		return nil
	}
	pkg.follow(moving)
	for _, f := range pkg.tests {
		if runsSpecs(f) && !moving[f.Name] {
			return moving
		}
	}
	for _, f := range pkg.tests {
		for _, spec := range f.AST.Imports {
			if strings.HasPrefix(gosource.ImportPath(spec), ginkgo) {
				moving[f.Name] = true
			}
		}
	}
	pkg.follow(moving)
	return moving
}

// follow adds the test files that use what those that move declare, and the other way round.
func (pkg *apiPackage) follow(moving map[string]bool) {
	tests := map[string]bool{}
	for _, f := range pkg.tests {
		tests[f.Name] = true
	}
	for before := -1; before < len(moving); {
		before = len(moving)
		for _, f := range pkg.tests {
			for _, n := range pkg.names[f.Name] {
				if tests[n.file] && (moving[f.Name] || moving[n.file]) {
					moving[f.Name], moving[n.file] = true, true
				}
			}
		}
	}
}

// runsSpecs tells that a file makes go test run Ginkgo's specs.
func runsSpecs(f *source) bool {
	found := false
	ast.Inspect(f.AST, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			name := method(call)
			if id, ok := call.Fun.(*ast.Ident); ok {
				name = id.Name
			}
			found = found || strings.HasPrefix(name, "RunSpecs")
		}
		return !found
	})
	return found
}

// setupOf is the kind whose set-up an expression in the package itself stands for; nil for any other.
func (pkg *apiPackage) setupOf(f *source, e ast.Expr) *webhook {
	var id *ast.Ident
	switch e := e.(type) {
	case *ast.SelectorExpr:
		id = e.Sel
	case *ast.Ident:
		id = e
	default:
		return nil
	}
	for _, h := range pkg.webhooks {
		// One that stays is called as before, but not from another package.
		if s := h.setup; !s.stays && s.is(pkg.of(f, id)) {
			_, selects := e.(*ast.SelectorExpr)
			if selects == (gosource.Receiver(s.decl) != "") {
				return h
			}
		}
	}
	return nil
}

// tied finds what a test uses that only its package can.
func (pkg *apiPackage) tied(f *source, moving map[string]bool) (at *ast.Ident, what string) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || what != "" {
			return what == ""
		}
		if r := pkg.of(f, id); (r.global || r.member) && !moving[r.file] && !exported(id.Name) {
			at, what = id, id.Name
		}
		return true
	})
	return at, what
}

// relocate makes a test fit its new package.
func (pkg *apiPackage) relocate(f *source) {
	f.edits = append(f.edits, relative(f, pkg.dir, pkg.target)...)
	taken := map[*ast.Ident]bool{}
	alias := ""
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if h := pkg.setupOf(f, n); h != nil {
				f.replace(n, h.newSetup())
				ast.Inspect(n, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						taken[id] = true
					}
					return true
				})
			}
		case *ast.Ident:
			if h := pkg.setupOf(f, n); h != nil && !taken[n] {
				f.replace(n, h.newSetup())
				break
			}
			if r := pkg.of(f, n); r.global && !strings.HasSuffix(r.file, "_test.go") && !taken[n] {
				if alias == "" {
					alias = f.use(pkg.path, pkg.webhooks[0].resource.ImportAlias())
				}
				f.insert(n.Pos(), alias+".")
			}
		}
		return true
	})
	f.apply()
}

// relative makes paths that lead out of a test's folder lead to the same places from another folder: the ".." that
// arguments of filepath.Join begin with, and strings that start with "../".
func relative(f *source, from, to string) []textdiff.Edit {
	var edits []textdiff.Edit
	edit := func(from, to ast.Node, text string) {
		edits = append(edits, textdiff.Edit{From: f.Offset(from.Pos()), To: f.Offset(to.End()), Text: text})
	}
	joined := map[ast.Expr]bool{}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.CallExpr:
			if !f.is(n.Fun, "path/filepath", "Join") && !f.is(n.Fun, "path", "Join") {
				return true
			}
			up := 0
			for ; up < len(n.Args) && literal(n.Args[up]) == ".."; up++ {
			}
			for _, arg := range n.Args {
				joined[arg] = up > 0
			}
			if climb := climbed(from, to, up); climb != nil {
				for i, part := range climb {
					climb[i] = strconv.Quote(part)
				}
				edit(n.Args[0], n.Args[up-1], strings.Join(climb, ", "))
			}
		case *ast.BasicLit:
			text := literal(n)
			up := 0
			for ; strings.HasPrefix(text, "../"); up++ {
				text = text[len("../"):]
			}
			if climb := climbed(from, to, up); climb != nil && !joined[n] {
				edit(n, n, strconv.Quote(strings.Join(append(climb, text), "/")))
			}
		}
		return true
	})
	return edits
}

// climbed is the way from a folder to what is a number of folders above another one; nil where that is out of the
// project.
func climbed(from, to string, up int) []string {
	if up == 0 || up > strings.Count(from, "/")+1 {
		return nil
	}
	for range up {
		from = path.Dir(from)
	}
	way, err := filepath.Rel(filepath.FromSlash(to), filepath.FromSlash(from))
	if err != nil {
		return nil
	}
	return strings.Split(filepath.ToSlash(way), "/")
}

// literal is the value of a string literal, empty for anything else.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return text
}
