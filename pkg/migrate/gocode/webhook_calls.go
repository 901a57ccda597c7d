package gocode

import (
	"cmp"
	"go/ast"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
)

// callers updates the set-up calls outside of the packages of types, mainly in cmd/main.go.
func (w *Webhooks) callers(current map[string][]byte) {
	scaffold := newSource(w.program, project.MainFile, current[project.MainFile])
	for _, f := range w.program.files {
		if f.callsNew(w, scaffold) {
			f.apply()
			w.tree.WriteFile(f.Name, f.bytes(), 0o644)
		}
	}
}

// callsNew replaces the old set-ups to which a file refers. It reports whether there are any.
func (f *source) callsNew(w *Webhooks, current *source) bool {
	found := false
	ast.PreorderStack(f.AST, nil, func(n ast.Node, parents []ast.Node) bool {
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
		if current != nil {
			usual = cmp.Or(current.importedAs(target), usual)
		}
		name := f.use(target, usual) + "." + h.newSetup()
		f.replace(refers, name)
		if f.Name == project.MainFile && current != nil {
			f.useCurrent(parents, current, name)
		}
		return true
	})
	return found
}

// useCurrent replaces the statement around a call, if an old scaffold wrote it, with the current scaffold's, so
// that it does not count as an edit.
func (f *source) useCurrent(parents []ast.Node, current *source, name string) {
	at := len(parents) - 1
	var old *ast.IfStmt
	for ; at >= 0 && old == nil; at-- {
		old, _ = parents[at].(*ast.IfStmt)
	}
	if old == nil || !isScaffoldedCall(f, old) {
		return
	}
	inner, outer := currentCall(current, name)
	if inner == nil {
		return
	}
	// Scaffolds before kubebuilder v3.12 set up webhooks without ENABLE_WEBHOOKS.
	var statement ast.Stmt = inner
	if outer != nil && at >= 1 {
		if function, ok := parents[at-1].(*ast.FuncDecl); ok && ast.Node(function.Body) == parents[at] {
			statement = outer
		}
	}
	indent := func(s *source, n ast.Node) string {
		return string(s.Text[s.LineStart(n.Pos()):s.Offset(n.Pos())])
	}
	lines := strings.Split(current.Source(statement), "\n")
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, indent(current, statement)); ok && i > 0 {
			lines[i] = indent(f, old) + rest
		}
	}
	f.replace(old, strings.Join(lines, "\n"))
}

// isScaffoldedCall reports whether a statement is the set-up of webhooks of an old scaffold.
func isScaffoldedCall(f *source, s *ast.IfStmt) bool {
	if s.Init == nil || s.Else != nil || len(s.Body.List) != 2 || f.Source(s.Cond) != "err != nil" {
		return false
	}
	assign, ok := s.Init.(*ast.AssignStmt)
	return ok && !f.hasComments(s, nil) && len(assign.Lhs) == 1 && f.Source(assign.Lhs[0]) == "err" &&
		strings.HasPrefix(f.Source(s.Body.List[0]), `setupLog.Error(err, "unable to create webhook", "webhook", "`) &&
		f.Source(s.Body.List[1]) == "os.Exit(1)"
}

// currentCall returns the statement of the current scaffold that calls a function, and the enclosing one.
func currentCall(current *source, name string) (inner, outer *ast.IfStmt) {
	ast.PreorderStack(current.AST, nil, func(n ast.Node, parents []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || current.Source(call.Fun) != name {
			return true
		}
		for _, parent := range parents {
			switch p, _ := parent.(*ast.IfStmt); {
			case p == nil:
			case p.Init != nil && p.Init.Pos() <= n.Pos() && n.End() <= p.Init.End():
				inner = p
			case p.Body.Pos() < n.Pos() && n.End() < p.Body.End():
				outer = p
			}
		}
		return true
	})
	return inner, outer
}

// setupOf returns the kind of a set-up function to which an expression in another package refers, or nil.
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

// oldName returns the name of the old set-up function, with the type of a method.
func (h *webhook) oldName() string {
	name := h.setup.decl.Name.Name
	if of := gosource.Receiver(h.setup.decl); of != "" {
		return of + "." + name
	}
	return name
}
