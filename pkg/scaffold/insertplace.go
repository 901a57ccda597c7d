package scaffold

import (
	"go/ast"
	"strings"
)

// findTyped finds where a text belongs in a Go file that has lost the marker, by what the code around it does: imports
// at the end of their block, types below the last that are registered, controllers below the last that is set up,
// before the manager starts. It finds nothing where the names that the text relies on are not known there.
func (g *goSyntax) findTyped(marker string) (place, bool) {
	switch marker {
	case importsMarker:
		return g.endOfImports()
	case "scheme":
		if strings.HasSuffix(g.filename, "_test.go") {
			return g.belowLast(nil, isCallOf("AddToScheme"), "err")
		}
		return g.belowLast(nil, isCallOf("AddToScheme"), "utilruntime", "scheme")
	case "builder":
		starts := func(call *ast.CallExpr) bool {
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || method.Sel.Name != "Start" {
				return false
			}
			receiver, ok := method.X.(*ast.Ident)
			return ok && receiver.Name == "mgr"
		}
		return g.belowLast(starts, isCallOf("SetupWithManager"), "mgr", "setupLog", "os")
	case "webhook":
		return g.belowLast(nil, isSetupOfWebhooks, "mgr", "err")
	}
	return place{}, false
}

func isCallOf(name string) func(*ast.CallExpr) bool {
	return func(call *ast.CallExpr) bool { return calledName(call) == name }
}

func isSetupOfWebhooks(call *ast.CallExpr) bool {
	name := calledName(call)
	return strings.HasPrefix(name, "Setup") && strings.HasSuffix(name, "WithManager")
}

// endOfImports is the place below the last import of a block in parentheses.
func (g *goSyntax) endOfImports() (place, bool) {
	for i := len(g.file.Decls) - 1; i >= 0; i-- {
		block, ok := g.file.Decls[i].(*ast.GenDecl)
		if !ok || !block.Rparen.IsValid() || len(block.Specs) == 0 {
			continue
		}
		if _, ok := block.Specs[0].(*ast.ImportSpec); ok {
			return place{line: g.fset.PositionFor(block.Rparen, false).Line - 1, indent: "\t"}, true
		}
	}
	return place{}, false
}

// belowLast is the place below the last statement of a function that makes such a call, and below the check of its
// error. With a call that ends the search, the function must have it, and the place is above it at the latest.
func (g *goSyntax) belowLast(end, wanted func(*ast.CallExpr) bool, names ...string) (place, bool) {
	var found ast.Stmt
	ast.Inspect(g.file, func(n ast.Node) bool {
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
	if found == nil || !g.knows(names) {
		return place{}, false
	}
	line := g.fset.PositionFor(found.End(), false).Line
	return place{line: line, indent: indentation(g.lines[g.fset.PositionFor(found.Pos(), false).Line-1])}, true
}

// calls reports whether a statement makes such a call, not counting the blocks of functions and other statements in it.
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

// checksError reports whether a statement is the check of the error of the one above it.
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
				argument = printed(call.Args[0])
			}
			return strings.HasPrefix(calledName(call), "Expect") && argument == "err"
		})
	}
	return found
}

// knows reports whether the file imports, declares or assigns all of the names.
func (g *goSyntax) knows(names []string) bool {
	known := map[string]bool{}
	for _, spec := range g.file.Imports {
		known[importName(spec)] = true
	}
	ast.Inspect(g.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for _, id := range n.Names {
				known[id.Name] = true
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok {
					known[id.Name] = true
				}
			}
		case *ast.Field:
			for _, id := range n.Names {
				known[id.Name] = true
			}
		}
		return true
	})
	for _, name := range names {
		if !known[name] {
			return false
		}
	}
	return true
}
