package gocode

import (
	"go/ast"
	"go/token"
	"strings"
)

// addContext gives a function a context as its first parameter. A body that makes one of its own of no other takes that
// one instead; where it has another use for the name, the parameter stays unnamed and the body as it is.
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
		made, ok := f.madeContext(stmt)
		if !ok || made != "_" && name != "" {
			continue
		}
		if made != "_" {
			name = made
		}
		f.cutStatement(stmt)
	}
	switch {
	case name != "":
	case mentioned(body, "ctx") || mentioned(t, "ctx"):
		name = "_"
	default:
		name = "ctx"
	}
	f.insert(at, name+" "+contextType)
}

// madeContext tells of ctx := context.Background(), _ = context.Background() and the like, with the name there.
func (f *source) madeContext(stmt ast.Stmt) (name string, ok bool) {
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
	if !ok || !f.is(call.Fun, "context", "Background", "TODO") {
		return "", false
	}
	return left.(*ast.Ident).Name, true
}

// cutStatement takes a statement away, with its line if nothing else is there.
func (f *source) cutStatement(stmt ast.Stmt) {
	from, to := f.LineStart(stmt.Pos()), f.LineEnd(stmt.End())
	before, behind := string(f.Text[from:f.Offset(stmt.Pos())]), string(f.Text[f.Offset(stmt.End()):to])
	if strings.TrimSpace(before) == "" && strings.TrimSpace(behind) == "" {
		f.cutLines(stmt.Pos(), stmt.End())
		return
	}
	f.cut(stmt.Pos(), stmt.End())
}

// mentioned tells whether an identifier occurs, but for fields and methods.
func mentioned(n ast.Node, name string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || mentioned(n.X, name)
			return false
		case *ast.Ident:
			found = found || n.Name == name
		}
		return !found
	})
	return found
}

// contextIn is an expression for a context: that of the innermost function which is given one, or one without end.
func (f *source) contextIn(stack []ast.Node) string {
	for i := len(stack) - 1; i >= 0; i-- {
		if name := parameter(stack[i], func(t ast.Expr) bool { return f.is(t, "context", "Context") }); name != "" {
			return name
		}
	}
	return f.use("context", "context") + ".Background()"
}

// parameter is the first parameter of a function that has a wanted type and a name; empty for anything else.
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
