package gocode

import (
	"go/ast"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

const mainFile = "cmd/main.go"

// callers makes the code outside of the packages of types, cmd/main.go above all, set the webhooks up where they are
// now.
func (w *Webhooks) callers(today map[string][]byte) {
	scaffold := newSource(w.program, mainFile, today[mainFile])
	for _, f := range w.program.files {
		if f.callsNew(w, scaffold) {
			f.apply()
			w.tree.WriteFile(f.Name, f.bytes(), 0o644)
		}
	}
}

// callsNew replaces the old set-ups that a file calls or names. It reports whether there are any.
func (f *source) callsNew(w *Webhooks, today *source) bool {
	found := false
	var parents []ast.Node
	ast.Inspect(f.AST, func(n ast.Node) bool {
		if n == nil {
			parents = parents[:len(parents)-1]
			return true
		}
		parents = append(parents, n)
		refers, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		h := w.setupOf(f, refers)
		if h == nil || h.pkg.dir == f.Dir() {
			return true
		}
		found = true
		target := path.Join(w.program.module, h.pkg.target)
		usual := "webhook" + h.resource.Version
		if today != nil {
			usual = importedAs(today.imports, target, usual)
		}
		name := f.use(target, usual) + "." + h.newSetup()
		f.replace(refers, name)
		if f.Name == mainFile && today != nil {
			f.likeToday(parents, today, name)
		}
		return true
	})
	return found
}

// importedAs is the name by which something is imported, or another one.
func importedAs(imports map[string]string, importPath, other string) string {
	for name, imported := range imports {
		if imported == importPath {
			return name
		}
	}
	return other
}

// likeToday replaces the statement around a call, as scaffolds of before wrote it, by that of today, so that nobody
// takes it for a person's. The last of the parents is what is called.
func (f *source) likeToday(parents []ast.Node, today *source, name string) {
	at := len(parents) - 1
	for ; at > 0; at-- {
		if _, ok := parents[at].(*ast.IfStmt); ok {
			break
		}
	}
	old, ok := parents[at].(*ast.IfStmt)
	if !ok || !scaffoldedCall(f, old) {
		return
	}
	inner, outer := todaysCall(today, name)
	if inner == nil {
		return
	}
	// Scaffolds of before kubebuilder v3.12 set webhooks up without asking for ENABLE_WEBHOOKS.
	var statement ast.Stmt = inner
	if block, ok := parents[at-1].(*ast.BlockStmt); ok && outer != nil && at >= 2 {
		if function, ok := parents[at-2].(*ast.FuncDecl); ok && function.Body == block {
			statement = outer
		}
	}
	indent := func(s *source, n ast.Node) string {
		return string(s.Text[s.LineStart(n.Pos()):s.Offset(n.Pos())])
	}
	lines := strings.Split(today.Source(statement), "\n")
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, indent(today, statement)); ok && i > 0 {
			lines[i] = indent(f, old) + rest
		}
	}
	f.replace(old, strings.Join(lines, "\n"))
}

// scaffoldedCall tells that a statement checks a set-up of webhooks as scaffolds of before do.
func scaffoldedCall(f *source, s *ast.IfStmt) bool {
	if s.Init == nil || s.Else != nil || len(s.Body.List) != 2 || f.Source(s.Cond) != "err != nil" {
		return false
	}
	for _, group := range f.AST.Comments {
		if group.Pos() > s.Pos() && group.End() < s.End() {
			return false
		}
	}
	assign, ok := s.Init.(*ast.AssignStmt)
	return ok && len(assign.Lhs) == 1 && f.Source(assign.Lhs[0]) == "err" &&
		strings.HasPrefix(f.Source(s.Body.List[0]), `setupLog.Error(err, "unable to create webhook", "webhook", "`) &&
		f.Source(s.Body.List[1]) == "os.Exit(1)"
}

// todaysCall finds the statement of today's scaffold that calls a function, and the one around it.
func todaysCall(today *source, name string) (inner, outer *ast.IfStmt) {
	var parents []*ast.IfStmt
	ast.Inspect(today.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			parents = append(parents, n)
		case *ast.CallExpr:
			if today.Source(n.Fun) != name {
				break
			}
			for _, p := range parents {
				switch {
				case p.Init != nil && p.Init.Pos() <= n.Pos() && n.End() <= p.Init.End():
					inner = p
				case p.Body.Pos() < n.Pos() && n.End() < p.Body.End():
					outer = p
				}
			}
		}
		return true
	})
	return inner, outer
}

// setupOf is the kind whose set-up an expression in another package stands for, nil for any other.
func (w *Webhooks) setupOf(f *source, e *ast.SelectorExpr) *webhook {
	from, name := f.named(e)
	if object := objectOf(e.X); from == "" && object != nil {
		from, name = f.named(object)
		name += "." + e.Sel.Name
	}
	for _, pkg := range w.packages {
		for _, h := range pkg.webhooks {
			if pkg.path == from && name == h.oldName() {
				return h
			}
		}
	}
	return nil
}

// oldName is the name of the set-up of before, behind that of the type that it is a method of.
func (h *webhook) oldName() string {
	name := h.setup.decl.Name.Name
	if of := gosource.Receiver(h.setup.decl); of != "" {
		return of + "." + name
	}
	return name
}
