package cmd_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestErrorsAreNotLists checks that no error is one text of several lines. Places and the advice below them are values of a diag.Group,
// what explains a problem is related to its diag.Finding: JSON, SARIF and annotations have them, too. Only pkg/diag makes a text of them.
func TestErrorsAreNotLists(t *testing.T) {
	t.Parallel()
	eachProgramFile(t, func(file string, fset *token.FileSet, syntax *ast.File) {
		if strings.HasPrefix(file, "cmd/internal/") || strings.HasPrefix(file, "pkg/diag/") {
			return
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			for _, part := range errorParts(n) {
				ast.Inspect(part, func(n ast.Node) bool {
					literal, ok := n.(*ast.BasicLit)
					if !ok || literal.Kind != token.STRING {
						return true
					}
					if text, err := strconv.Unquote(literal.Value); err == nil && strings.Contains(text, "\n") {
						t.Errorf("%s: the text of an error has several lines: %s", fset.Position(literal.Pos()), literal.Value)
					}
					return true
				})
			}
			return true
		})
	})
}

// errorParts returns what is below a node and makes the text of an error: the arguments of functions that return errors, the text of a
// finding or a heading, and the body of a method Error.
func errorParts(n ast.Node) (parts []ast.Node) {
	switch n := n.(type) {
	case *ast.CallExpr:
		function, _ := n.Fun.(*ast.SelectorExpr)
		switch {
		case isNamed(n.Fun, "usagef"), function != nil && slices.Contains([]string{"Errorf", "Addf"}, function.Sel.Name),
			function != nil && isNamed(function.X, "errors"):
			for _, arg := range n.Args {
				parts = append(parts, arg)
			}
		}
	case *ast.KeyValueExpr:
		if slices.ContainsFunc([]string{"Problem", "Fix", "Heading"}, func(key string) bool { return isNamed(n.Key, key) }) {
			parts = append(parts, n.Value)
		}
	case *ast.FuncDecl:
		if n.Name.Name == "Error" && n.Recv != nil && n.Body != nil {
			parts = append(parts, n.Body)
		}
	}
	return parts
}
