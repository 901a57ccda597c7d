package typecheck

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
)

// checkTests checks what the go command requires of the test files of a package, before they are compiled.
func (c *checker) checkTests(path string, p *packageFiles) {
	hasMain := false
	for _, f := range slices.Concat(p.tests, p.externalTests) {
		for _, spec := range f.Imports {
			switch imported := gosource.ImportPath(spec); {
			case imported == "C":
				c.report(spec, "use of cgo in test not supported")
			case slices.Contains(p.tests, f) && c.imports(imported, path):
				c.report(spec, "import cycle not allowed in test")
			}
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			parameter := testParameter(fn)
			if parameter == "M" {
				if hasMain {
					dir, _ := c.module.DirOf(path)
					c.found = append(c.found, diag.Finding{Position: diag.Position{File: dir}, Problem: "multiple definitions of TestMain"})
				}
				hasMain = true
			}
			switch {
			case parameter == "":
			case !isTestFunc(fn, parameter):
				c.report(fn, fmt.Sprintf("wrong signature for %s, must be: func %[1]s(%s *testing.%s)", fn.Name.Name, strings.ToLower(parameter), parameter))
			case fn.Type.TypeParams.NumFields() > 0:
				c.report(fn, fmt.Sprintf("wrong signature for %s, test functions cannot have type parameters", fn.Name.Name))
			}
		}
	}
}

// report adds a finding about a node.
func (c *checker) report(n ast.Node, problem string) {
	at := c.module.Fset.Position(n.Pos())
	c.found = append(c.found, diag.Finding{Position: diag.Position{File: at.Filename, Line: at.Line, Column: at.Column}, Problem: problem})
}

// testParameter returns the type in package testing that the parameter of a test function must point to, such as "T". It returns
// an empty string if the name does not begin like a test function.
func testParameter(fn *ast.FuncDecl) string {
	if fn.Name.Name == "TestMain" {
		if isTestFunc(fn, "T") {
			return "T"
		}
		return "M"
	}
	for prefix, parameter := range map[string]string{"Test": "T", "Benchmark": "B", "Fuzz": "F"} {
		if rest, ok := strings.CutPrefix(fn.Name.Name, prefix); ok {
			if first, _ := utf8.DecodeRuneInString(rest); rest == "" || !unicode.IsLower(first) {
				return parameter
			}
		}
	}
	return ""
}

// isTestFunc reports whether a function has no results and one parameter, a pointer to a type of this name.
func isTestFunc(fn *ast.FuncDecl, parameter string) bool {
	if fn.Type.Results.NumFields() > 0 || fn.Type.Params.NumFields() != 1 {
		return false
	}
	pointer, ok := fn.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch t := pointer.X.(type) {
	case *ast.Ident:
		return t.Name == parameter
	case *ast.SelectorExpr:
		return t.Sel.Name == parameter
	}
	return false
}
