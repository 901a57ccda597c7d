package upgrade

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// renames gives variables of older programs, in what was taken over, the names of today's.
func (p *programs) renames() {
	today := map[string]string{
		"metricsAddr": "s.metricsAddr", "probeAddr": "s.probeAddr", "enableLeaderElection": "s.leaderElect", "secureMetrics": "s.secureMetrics",
		"enableHTTP2": "s.http2",
	}
	p.clashes()
	for _, part := range p.taken {
		ast.Inspect(part.node, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || id.Obj == nil || id.Obj.Decl == nil {
				return true
			}
			decl, ok := id.Obj.Decl.(ast.Node)
			if !ok || !p.gone(decl) {
				return true
			}
			name := today[id.Name]
			if name == "" {
				p.ok = false // it uses what is not there any more
				return true
			}
			p.renamed = append(p.renamed, textdiff.Edit{From: p.mine.offset(id.Pos()), To: p.mine.offset(id.End()), Text: name})
			return true
		})
	}
}

// gone tells that a declaration is in a statement that today's program does without.
func (p *programs) gone(decl ast.Node) bool {
	for stmt := range p.dropped {
		if stmt.Pos() <= decl.Pos() && decl.End() <= stmt.End() {
			name := ""
			switch d := decl.(type) {
			case *ast.AssignStmt:
				name = p.mine.span(d.Lhs[0])
			case *ast.ValueSpec:
				name = d.Names[0].Name
			}
			return name != "mgr" && name != "err" // which today's has too
		}
	}
	return false
}

// clashes looks for names that what was taken over declares, and that today's program has for something else or the
// scaffold's own statements used: then it is no addition.
func (p *programs) clashes() {
	names := map[string]bool{}
	for name := range p.theirs.file.Scope.Objects {
		names[name] = true
	}
	for _, stmt := range p.theirs.function("main").Body.List {
		for _, name := range declared(stmt) {
			names[name] = name != "err"
		}
	}
	objects := map[*ast.Object]bool{}
	for _, part := range p.taken {
		for _, name := range declared(part.node) {
			p.ok = p.ok && !names[name]
		}
		ast.Inspect(part.node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if n.Obj != nil && n.Obj.Kind == ast.Var && n.Obj.Pos() == n.Pos() && n.Name != "err" {
					objects[n.Obj] = true
					p.ok = p.ok && n.Name != "s" // renames would stand for it
				}
			case *ast.CallExpr:
				p.ok = p.ok && !p.flagged(n)
			}
			return true
		})
	}
	for stmt := range p.dropped {
		ast.Inspect(stmt, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && objects[id.Obj] && !p.isTaken(stmt) {
				p.ok = false
			}
			return true
		})
	}
}

func (p *programs) isTaken(n ast.Node) bool {
	return slices.ContainsFunc(p.taken, func(part transfer) bool { return part.node == n })
}

// declared are the names that a statement or declaration gives to its block.
func declared(n ast.Node) []string {
	var names []string
	specs := func(list []ast.Spec) {
		for _, spec := range list {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, id := range s.Names {
					names = append(names, id.Name)
				}
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			}
		}
	}
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Recv == nil {
			names = append(names, n.Name.Name)
		}
	case *ast.GenDecl:
		specs(n.Specs)
	case *ast.DeclStmt:
		if g, ok := n.Decl.(*ast.GenDecl); ok {
			specs(g.Specs)
		}
	case ast.Spec:
		specs([]ast.Spec{n})
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
				names = append(names, id.Name)
			}
		}
	}
	return names
}

// flagged tells that a call declares a flag which today's program has: a person has changed what an older one
// declared, and two of a name make the program panic.
func (p *programs) flagged(call *ast.CallExpr) bool {
	if !strings.HasPrefix(p.mine.span(call.Fun), "flag.") {
		return false
	}
	found := false
	for _, arg := range call.Args {
		lit, ok := arg.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		ast.Inspect(p.theirs.file, func(n ast.Node) bool {
			if other, ok := n.(*ast.BasicLit); ok && other.Kind == token.STRING && len(other.Value) > 2 {
				name := strings.Trim(other.Value, `"`)
				found = found || lit.Value == other.Value || name[0] == '-' && strings.HasSuffix(strings.Trim(lit.Value, `"`), name)
			}
			return !found
		})
		break // the name is the first of the texts
	}
	return found
}
