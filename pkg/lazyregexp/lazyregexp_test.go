package lazyregexp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

func TestRegexp(t *testing.T) {
	t.Parallel()
	number := lazyregexp.New(`(\d)(\d)`)
	if got := number.ReplaceAllString("a12", "$2$1"); got != "a21" {
		t.Errorf("ReplaceAllString = %q", got)
	}
	if compiled := number.Compiled(); compiled != number.Compiled() {
		t.Error("the pattern is compiled again")
	}
}

// TestPatterns compiles the constant patterns of all packages, and finds package-level variables that are compiled at initialization.
func TestPatterns(t *testing.T) {
	t.Parallel()
	patterns := 0
	for _, dir := range []string{"../../cmd", "../../pkg", "../../templates"} {
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), dir+"/"+name, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if _, ok := n.(*ast.FuncLit); ok {
					return false
				}
				if _, ok := n.(*ast.FuncDecl); ok {
					return false
				}
				call, ok := n.(*ast.CallExpr)
				switch {
				case !ok:
				case isCall(call, "regexp", "MustCompile") && !strings.HasPrefix(name, "internal/"):
					t.Errorf("%s compiles a package-level variable at initialization; use lazyregexp.New", name)
				case isCall(call, "lazyregexp", "New"):
					patterns++
					if pattern, ok := constant(call.Args[0]); ok {
						if _, err := regexp.Compile(pattern); err != nil {
							t.Errorf("%s: %v", name, err)
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if patterns < 100 {
		t.Errorf("found only %d patterns", patterns)
	}
}

func isCall(call *ast.CallExpr, pkg, function string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != function {
		return false
	}
	name, ok := sel.X.(*ast.Ident)
	return ok && name.Name == pkg
}

// constant returns the value of a literal, or of literals joined with +.
func constant(x ast.Expr) (string, bool) {
	switch x := x.(type) {
	case *ast.BasicLit:
		value, err := strconv.Unquote(x.Value)
		return value, err == nil
	case *ast.BinaryExpr:
		left, ok := constant(x.X)
		right, ok2 := constant(x.Y)
		return left + right, ok && ok2
	}
	return "", false
}
