package gocode

import (
	"go/ast"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
)

// moveTests moves the tests that need the set-up of webhooks, the suite and its specs, to the current package. Other
// tests are kept.
func (w *Webhooks) moveTests(pkg *apiPackage, current map[string][]byte) {
	moving := pkg.movingTests()
	for _, f := range pkg.tests {
		if !moving[f.Name] {
			continue
		}
		name := path.Join(pkg.target, path.Base(f.Name))
		if id := pkg.tied(f, moving); id != nil {
			w.notes.Addf(f.at(id.Pos()),
				"tests not moved with the suite of the webhooks: they use %s of this package; move them to %s", id.Name, pkg.target)
			continue
		}
		if w.tree.Exists(name) {
			w.notes.Addf(diag.Position{File: f.Name}, "not moved: %s already exists; merge the two files", name)
			continue
		}
		text, ok := pkg.currentSuite(f, current[name], w.program)
		if !ok {
			pkg.relocate(f)
			text = f.bytes()
			if path.Base(name) == suiteFile {
				w.notes.Addf(diag.Position{File: name}, "not updated to the current scaffold, because it was edited")
			}
		}
		w.tree.Move(f.Name, name, text)
	}
	for _, f := range pkg.outer {
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if e, ok := n.(*ast.SelectorExpr); ok && w.setupOf(f, e) != nil {
				w.notes.Addf(f.at(e.Pos()), "tests not moved: they are in an external test package; move them to %s", pkg.target)
				return false
			}
			return true
		})
	}
}

// movingTests returns the test files that call a moved set-up, those that share declarations with them, and specs that
// only their suite runs.
func (pkg *apiPackage) movingTests() map[string]bool {
	moving := map[string]bool{}
	for _, f := range pkg.tests {
		for e := range nodes[ast.Expr](f.AST) {
			if pkg.setupOf(f, e) != nil {
				moving[f.Name] = true
			}
		}
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

// runsSpecs reports whether a file makes go test run the specs of Ginkgo.
func runsSpecs(f *source) bool {
	for call := range nodes[*ast.CallExpr](f.AST) {
		if strings.HasPrefix(gosource.CalledName(call), "RunSpecs") {
			return true
		}
	}
	return false
}

// setupOf returns the kind of a set-up function to which an expression in the package refers, or nil.
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
		if s := h.setup; !s.stays && s.matches(pkg.of(f, id)) {
			_, selects := e.(*ast.SelectorExpr)
			if selects == (gosource.Receiver(s.decl) != "") {
				return h
			}
		}
	}
	return nil
}

// tied returns the first name in a test that only its package can use, or nil.
func (pkg *apiPackage) tied(f *source, moving map[string]bool) *ast.Ident {
	for id := range nodes[*ast.Ident](f.AST) {
		if r := pkg.of(f, id); (r.global || r.member) && !moving[r.file] && !ast.IsExported(id.Name) {
			return id
		}
	}
	return nil
}

// relocate makes a test fit its new package.
func (pkg *apiPackage) relocate(f *source) {
	f.edits = append(f.edits, f.KeepTargets(pkg.dir, pkg.target)...)
	taken := map[*ast.Ident]bool{}
	alias := ""
	for n := range ast.Preorder(f.AST) {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if h := pkg.setupOf(f, n); h != nil {
				f.replace(n, h.newSetup())
				for id := range nodes[*ast.Ident](n) {
					taken[id] = true
				}
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
	}
	f.apply()
}
