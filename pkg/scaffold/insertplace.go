package scaffold

import (
	"go/ast"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// findByCode finds the insertion point of a marker that the file no longer has: imports belong at the end of their block,
// types after the last registered ones, controllers after the last one that is set up, before the manager starts. It
// finds nothing if the file does not declare the names that the inserted text uses.
func (g *goSyntax) findByCode(marker string) (insertionPoint, bool) {
	switch marker {
	case importsMarker:
		return g.endOfImports()
	case "scheme":
		if g.IsTest() {
			return g.afterLastCall(nil, isCallOf("AddToScheme"), "err")
		}
		return g.afterLastCall(nil, isCallOf("AddToScheme"), "utilruntime", "scheme")
	case "builder":
		starts := func(call *ast.CallExpr) bool {
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || method.Sel.Name != "Start" {
				return false
			}
			receiver, ok := method.X.(*ast.Ident)
			return ok && receiver.Name == "mgr"
		}
		return g.afterLastCall(starts, isCallOf("SetupWithManager"), "mgr", "setupLog", "os")
	case "webhook":
		return g.afterLastCall(nil, setsUpWebhooks, "mgr", "err")
	}
	return insertionPoint{}, false
}

func isCallOf(name string) func(*ast.CallExpr) bool {
	return func(call *ast.CallExpr) bool { return gosource.CalledName(call) == name }
}

func setsUpWebhooks(call *ast.CallExpr) bool {
	name := gosource.CalledName(call)
	return strings.HasPrefix(name, "Setup") && strings.HasSuffix(name, "WithManager")
}

// endOfImports finds the end of the last import block in parentheses.
func (g *goSyntax) endOfImports() (insertionPoint, bool) {
	for i := len(g.AST.Decls) - 1; i >= 0; i-- {
		block, ok := g.AST.Decls[i].(*ast.GenDecl)
		if !ok || !block.Rparen.IsValid() || len(block.Specs) == 0 {
			continue
		}
		if _, ok := block.Specs[0].(*ast.ImportSpec); ok {
			return insertionPoint{line: g.Line(block.Rparen) - 1, indent: "\t"}, true
		}
	}
	return insertionPoint{}, false
}

// afterLastCall finds the last statement of a function with a wanted call, and the check of its error after it. If end is
// not nil, only statements before the first one with such a call count, and a function without one is skipped.
func (g *goSyntax) afterLastCall(end, wanted func(*ast.CallExpr) bool, names ...string) (insertionPoint, bool) {
	var found ast.Stmt
	ast.Inspect(g.AST, func(n ast.Node) bool {
		body, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		stop := len(body.List)
		if end != nil {
			for stop = 0; stop < len(body.List) && !calls(body.List[stop], end); stop++ {
			}
			if stop == len(body.List) {
				return true
			}
		}
		for i := range stop {
			if !calls(body.List[i], wanted) {
				continue
			}
			found = body.List[i]
			if i+1 < stop && checksError(body.List[i+1]) {
				found = body.List[i+1]
			}
		}
		return true
	})
	if found == nil || !g.declares(names) {
		return insertionPoint{}, false
	}
	line := g.Line(found.End())
	return insertionPoint{line: line, indent: indentation(g.lines[g.Line(found.Pos())-1])}, true
}

// calls reports whether a statement contains a wanted call outside of blocks.
func calls(stmt ast.Stmt, wanted func(*ast.CallExpr) bool) bool {
	found := false
	ast.Inspect(stmt, func(n ast.Node) bool {
		if _, ok := n.(*ast.BlockStmt); ok {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		found = found || ok && wanted(call)
		return !found
	})
	return found
}

// checksError reports whether a statement checks the error of the preceding one.
func checksError(stmt ast.Stmt) bool {
	found := false
	switch s := stmt.(type) {
	case *ast.IfStmt:
		ast.Inspect(s.Cond, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || ok && id.Name == "err" && s.Init == nil
			return true
		})
	case *ast.ExprStmt:
		found = calls(s, func(call *ast.CallExpr) bool {
			argument := ""
			if len(call.Args) > 0 {
				argument = gosource.Print(call.Args[0])
			}
			return strings.HasPrefix(gosource.CalledName(call), "Expect") && argument == "err"
		})
	}
	return found
}

// declares reports whether the file imports, declares or assigns all of the names.
func (g *goSyntax) declares(names []string) bool {
	declared := map[string]bool{}
	for _, spec := range g.AST.Imports {
		declared[g.ImportName(spec)] = true
	}
	ast.Inspect(g.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for _, id := range n.Names {
				declared[id.Name] = true
			}
		case *ast.AssignStmt:
			for _, target := range n.Lhs {
				if id, ok := target.(*ast.Ident); ok {
					declared[id.Name] = true
				}
			}
		case *ast.Field:
			for _, id := range n.Names {
				declared[id.Name] = true
			}
		}
		return true
	})
	for _, name := range names {
		if !declared[name] {
			return false
		}
	}
	return true
}
