package cmd_test

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"testing"
)

// TestNoTextIsParsedBack checks that the command line and the printers take nothing from the text of an error: positions, headings and
// advice are fields of diag.Finding and diag.Group.
func TestNoTextIsParsedBack(t *testing.T) {
	t.Parallel()
	parsers := []string{
		"Contains", "ContainsAny", "Count", "Cut", "CutPrefix", "CutSuffix", "Fields", "HasPrefix", "HasSuffix", "Index", "LastIndex", "Lines", "Split",
		"SplitAfter", "SplitN", "SplitSeq", "TrimPrefix", "TrimSuffix",
	}
	eachProgramFile(t, func(file string, fset *token.FileSet, syntax *ast.File) {
		if !slices.Contains([]string{"cmd", "pkg/diag", "pkg/report"}, path.Dir(file)) {
			return
		}
		for _, declared := range syntax.Decls {
			texts := errorTexts(declared)
			ast.Inspect(declared, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				function, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || !slices.Contains(parsers, function.Sel.Name) || !isNamed(function.X, "strings") {
					return true
				}
				if slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return isErrorText(arg, texts) }) {
					t.Errorf("%s: strings.%s takes the text of an error apart", fset.Position(call.Pos()), function.Sel.Name)
				}
				return true
			})
		}
	})
}

// errorTexts returns the variables of a function that are assigned the text of an error.
func errorTexts(function ast.Node) map[string]bool {
	texts := map[string]bool{}
	ast.Inspect(function, func(n ast.Node) bool {
		assigned, ok := n.(*ast.AssignStmt)
		if !ok || len(assigned.Lhs) != len(assigned.Rhs) {
			return true
		}
		for i, value := range assigned.Rhs {
			if name, ok := assigned.Lhs[i].(*ast.Ident); ok && isErrorText(value, texts) {
				texts[name.Name] = true
			}
		}
		return true
	})
	return texts
}

// isErrorText reports whether an expression contains a call of a method Error, or a variable with its result.
func isErrorText(e ast.Expr, texts map[string]bool) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if method, ok := n.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Error" && len(n.Args) == 0 {
				found = true
			}
		case *ast.Ident:
			found = found || texts[n.Name]
		}
		return !found
	})
	return found
}

func isNamed(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}
