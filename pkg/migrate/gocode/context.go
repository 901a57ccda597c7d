package gocode

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// addContext adds a context as the first parameter of a function. If the body creates its own context without a parent,
// it uses the parameter instead; if it uses the name otherwise, the parameter is unnamed.
func (f *source) addContext(t *ast.FuncType, body *ast.BlockStmt) {
	contextType := f.use("context", "context") + ".Context"
	at := t.Params.Opening + 1
	if t.Params.List != nil {
		at = t.Params.List[0].Pos()
		contextType += ", "
	}
	if body == nil || t.Params.List != nil && len(t.Params.List[0].Names) == 0 {
		if t.Params.List != nil && len(t.Params.List[0].Names) > 0 {
			contextType = "ctx " + contextType
		}
		f.insert(at, contextType)
		return
	}
	name := ""
	for _, stmt := range body.List {
		created, ok := f.createdContext(stmt)
		if !ok || created != "_" && name != "" {
			continue
		}
		if created != "_" {
			name = created
		}
		f.cutStatement(stmt)
	}
	switch {
	case name != "":
	case isMentioned(body, "ctx") || isMentioned(t, "ctx"):
		name = "_"
	default:
		name = "ctx"
	}
	f.insert(at, name+" "+contextType)
}

// createdContext reports whether a statement is ctx := context.Background() or similar, and returns the name.
func (f *source) createdContext(stmt ast.Stmt) (name string, ok bool) {
	var left, right ast.Expr
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
			return "", false
		}
		left, right = s.Lhs[0], s.Rhs[0]
		if id, ok := left.(*ast.Ident); !ok || s.Tok != token.DEFINE && id.Name != "_" {
			return "", false
		}
	case *ast.DeclStmt:
		gen, ok := s.Decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR || len(gen.Specs) != 1 {
			return "", false
		}
		spec := gen.Specs[0].(*ast.ValueSpec)
		if len(spec.Names) != 1 || len(spec.Values) != 1 {
			return "", false
		}
		left, right = spec.Names[0], spec.Values[0]
	default:
		return "", false
	}
	call, ok := right.(*ast.CallExpr)
	if !ok || !f.refersTo(call.Fun, "context", "Background", "TODO") {
		return "", false
	}
	return left.(*ast.Ident).Name, true
}

// cutStatement removes a statement, with its line if nothing else is on it.
func (f *source) cutStatement(stmt ast.Stmt) {
	from, to := f.LineStart(stmt.Pos()), f.LineEnd(stmt.End())
	before, after := string(f.Text[from:f.Offset(stmt.Pos())]), string(f.Text[f.Offset(stmt.End()):to])
	if strings.TrimSpace(before) == "" && strings.TrimSpace(after) == "" {
		f.cutLines(stmt.Pos(), stmt.End())
		return
	}
	f.cut(stmt.Pos(), stmt.End())
}

// isMentioned reports whether an identifier occurs, other than as a field or method.
func isMentioned(n ast.Node, name string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || isMentioned(n.X, name)
			return false
		case *ast.Ident:
			found = found || n.Name == name
		}
		return !found
	})
	return found
}

// contextIn returns an expression for a context: the parameter of the innermost function with one, or context.Background().
func (f *source) contextIn(stack []ast.Node) string {
	for _, n := range slices.Backward(stack) {
		if name := parameter(n, func(t ast.Expr) bool { return f.refersTo(t, "context", "Context") }); name != "" {
			return name
		}
	}
	return f.use("context", "context") + ".Background()"
}

// parameter returns the name of the first parameter of a function if it has a wanted type, or "".
func parameter(function ast.Node, wanted func(ast.Expr) bool) string {
	var t *ast.FuncType
	switch n := function.(type) {
	case *ast.FuncDecl:
		t = n.Type
	case *ast.FuncLit:
		t = n.Type
	default:
		return ""
	}
	for _, field := range t.Params.List {
		if wanted(field.Type) && len(field.Names) == 1 && field.Names[0].Name != "_" {
			return field.Names[0].Name
		}
	}
	return ""
}
