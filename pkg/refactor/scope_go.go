package refactor

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// goProgram is a Go file that creates a manager.
type goProgram struct {
	*gosource.File
	main *ast.FuncDecl
	// options is the only literal of manager options, created the statement of main with it.
	options *ast.CompositeLit
	created ast.Stmt
}

func parseProgram(text string) (*goProgram, bool) {
	file, err := gosource.Parse("", []byte(text))
	if err != nil {
		return nil, false
	}
	p := &goProgram{File: file}
	for _, decl := range p.AST.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "main" {
			p.main = f
		}
	}
	if p.main == nil {
		return nil, false
	}
	found := 0
	for _, stmt := range p.main.Body.List {
		ast.Inspect(stmt, func(n ast.Node) bool {
			if literal, ok := n.(*ast.CompositeLit); ok && p.isOptions(literal.Type) {
				p.options, p.created = literal, stmt
				found++
			}
			return true
		})
	}
	return p, found == 1
}

// isOptions reports whether a type is manager.Options.
func (p *goProgram) isOptions(expr ast.Expr) bool {
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Options" {
		return false
	}
	id, ok := selector.X.(*ast.Ident)
	return ok && slices.ContainsFunc(p.AST.Imports, func(spec *ast.ImportSpec) bool {
		return p.ImportName(spec) == id.Name && (gosource.ImportPath(spec) == "sigs.k8s.io/controller-runtime" || gosource.ImportPath(spec) == "sigs.k8s.io/controller-runtime/pkg/manager")
	})
}

// above returns the index of the line of a node, or of the first comment directly before it.
func (p *goProgram) above(n ast.Node) int {
	line := p.Line(n.Pos())
	for _, group := range slices.Backward(p.AST.Comments) {
		if p.Line(group.End()) == line-1 {
			line = p.Line(group.Pos())
		}
	}
	return line - 1
}

// insertGo inserts a block into main.go: an import among the others, a function before main, a first field after the
// first field of the manager's options, statements before those that create the manager.
func insertGo(text string, block []string) (string, bool) {
	p, ok := parseProgram(text)
	if !ok {
		return text, false
	}
	field := strings.HasPrefix(block[0], "\t\t")
	switch {
	case strings.HasSuffix(block[0], `"`):
		return p.insertImports(text, block)
	case !strings.HasPrefix(block[0], "\t"):
		return insertLines(text, p.above(p.main), block), true
	case !field:
		return insertLines(text, p.above(p.created), block), true
	case len(p.options.Elts) == 0 || p.Line(p.options.Elts[0].Pos()) == p.Line(p.options.Pos()):
		return text, false
	}
	for _, element := range p.options.Elts {
		pair, _ := element.(*ast.KeyValueExpr)
		if pair == nil {
			return text, false
		}
		if key, ok := pair.Key.(*ast.Ident); !ok || slices.Contains([]string{"Cache", "NewCache", "Namespace"}, key.Name) {
			return text, false // the namespaces are set in another way
		}
	}
	return insertLines(text, p.Line(p.options.Elts[0].End()), block), true
}

// insertImports inserts imports into the sorted imports of their group.
func (p *goProgram) insertImports(text string, block []string) (string, bool) {
	for _, line := range slices.Backward(block) {
		added, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			return text, false
		}
		at := 0
		best := ""
		for _, spec := range p.AST.Imports {
			if existing := gosource.ImportPath(spec); gosource.IsStandard(existing) == gosource.IsStandard(added) && existing < added && existing >= best && spec.Pos() > p.AST.Name.End() {
				best, at = existing, p.Line(spec.Pos())
			}
		}
		if at == 0 {
			return text, false
		}
		text = insertLines(text, at, []string{line})
	}
	return text, true
}

// cutGo removes a block from main.go. Imports that the rest of the file uses are kept.
func cutGo(text string, block []string) (string, bool) {
	imported, err := strconv.Unquote(strings.TrimSpace(block[0]))
	if err != nil {
		return cutBlock(text, block)
	}
	p, ok := parseProgram(text)
	if !ok {
		return text, false
	}
	if p.UsedQualifiers(p.AST)[gosource.PackageName(imported)] {
		return text, true
	}
	return cutBlock(text, block)
}
