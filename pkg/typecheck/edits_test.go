package typecheck_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A replacement is a change of the text between two offsets of a file.
type replacement struct {
	from, to int
	text     string
}

// A source is a Go file that is about to be edited.
type source struct {
	ast  *ast.File
	text string
	base token.Pos
}

func (s source) at(p token.Pos) int       { return int(p - s.base) }
func (s source) textOf(n ast.Node) string { return s.text[s.at(n.Pos()):s.at(n.End())] }
func (s source) replace(n ast.Node, text string) replacement {
	return replacement{s.at(n.Pos()), s.at(n.End()), text}
}
func (s source) insert(p token.Pos, text string) replacement {
	return replacement{s.at(p), s.at(p), text}
}

// swap exchanges the text of two nodes.
func (s source) swap(a, b ast.Node) replacement {
	between := s.text[s.at(a.End()):s.at(b.Pos())]
	return replacement{s.at(a.Pos()), s.at(b.End()), s.textOf(b) + between + s.textOf(a)}
}

// edits are changes that most often break a program, by name. Each returns the change for a node, if it applies.
var edits = map[string]func(s source, n ast.Node) (replacement, bool){
	"rename a function or method": func(s source, n ast.Node) (replacement, bool) {
		f, ok := n.(*ast.FuncDecl)
		if !ok || f.Name.Name == "main" || f.Name.Name == "init" {
			return replacement{}, false
		}
		return s.insert(f.Name.End(), "Renamed"), true
	},
	"remove a method": func(s source, n ast.Node) (replacement, bool) {
		f, ok := n.(*ast.FuncDecl)
		return s.replace(n, ""), ok && f.Recv != nil
	},
	"remove a declaration": func(s source, n ast.Node) (replacement, bool) {
		d, ok := n.(*ast.GenDecl)
		return s.replace(n, ""), ok && d.Tok != token.IMPORT
	},
	"add a parameter": func(s source, n ast.Node) (replacement, bool) {
		f, ok := n.(*ast.FuncType)
		if !ok || len(f.Params.List) > 0 && len(f.Params.List[0].Names) == 0 {
			return replacement{}, false
		}
		return s.insert(f.Params.Opening+1, "added int, "), true
	},
	"remove the parameters": func(s source, n ast.Node) (replacement, bool) {
		f, ok := n.(*ast.FuncType)
		if !ok || len(f.Params.List) == 0 {
			return replacement{}, false
		}
		return replacement{s.at(f.Params.Opening + 1), s.at(f.Params.Closing), ""}, true
	},
	"change the type of a parameter, result or field": func(s source, n ast.Node) (replacement, bool) {
		f, ok := n.(*ast.Field)
		if !ok || len(f.Names) == 0 || isFunc(f.Type) {
			return replacement{}, false
		}
		return s.replace(f.Type, "chan bool"), true
	},
	"remove the results": func(s source, n ast.Node) (replacement, bool) {
		f, ok := n.(*ast.FuncType)
		if !ok || f.Results == nil {
			return replacement{}, false
		}
		return s.replace(f.Results, ""), true
	},
	"add a result": func(s source, n ast.Node) (replacement, bool) {
		f, ok := n.(*ast.FuncDecl)
		if !ok || f.Type.Results == nil || f.Type.Results.Opening.IsValid() {
			return replacement{}, false
		}
		return s.replace(f.Type.Results, "("+s.textOf(f.Type.Results)+", string)"), true
	},
	"rename a field, parameter or method of an interface": func(s source, n ast.Node) (replacement, bool) {
		f, ok := n.(*ast.Field)
		if !ok || len(f.Names) == 0 {
			return replacement{}, false
		}
		return s.insert(f.Names[0].End(), "Renamed"), true
	},
	"embed a pointer to an embedded type": func(s source, n ast.Node) (replacement, bool) {
		f, ok := n.(*ast.Field)
		if !ok || len(f.Names) > 0 {
			return replacement{}, false
		}
		return s.insert(f.Type.Pos(), "*"), true
	},
	"rename a type": func(s source, n ast.Node) (replacement, bool) {
		d, ok := n.(*ast.TypeSpec)
		if !ok {
			return replacement{}, false
		}
		return s.insert(d.Name.End(), "Renamed"), true
	},
	"add a type parameter": func(s source, n ast.Node) (replacement, bool) {
		switch d := n.(type) {
		case *ast.TypeSpec:
			return s.insert(d.Name.End(), "[Added any]"), d.TypeParams == nil
		case *ast.FuncDecl:
			return s.insert(d.Name.End(), "[Added any]"), d.Type.TypeParams == nil
		}
		return replacement{}, false
	},
	"remove an import": func(s source, n ast.Node) (replacement, bool) {
		i, ok := n.(*ast.ImportSpec)
		return s.replace(n, ""), ok && i.Path.Value != `"C"` && strings.Contains(s.text, "import (")
	},
	"add an import": func(s source, n ast.Node) (replacement, bool) {
		f, ok := n.(*ast.File)
		if !ok {
			return replacement{}, false
		}
		return s.insert(f.Name.End(), `; import "container/ring"`), true
	},
	"import a missing package": func(s source, n ast.Node) (replacement, bool) {
		i, ok := n.(*ast.ImportSpec)
		if !ok || i.Path.Value == `"C"` {
			return replacement{}, false
		}
		return s.insert(i.Path.End()-1, "/missing"), true
	},
	"remove a statement": func(s source, n ast.Node) (replacement, bool) {
		b, ok := n.(*ast.BlockStmt)
		if !ok || len(b.List) == 0 {
			return replacement{}, false
		}
		return s.replace(b.List[len(b.List)/2], ""), true
	},
	"remove the last statement": func(s source, n ast.Node) (replacement, bool) {
		b, ok := n.(*ast.BlockStmt)
		if !ok || len(b.List) == 0 {
			return replacement{}, false
		}
		return s.replace(b.List[len(b.List)-1], ""), true
	},
	"add a variable": func(s source, n ast.Node) (replacement, bool) {
		b, ok := n.(*ast.BlockStmt)
		if !ok {
			return replacement{}, false
		}
		return s.insert(b.Lbrace+1, " added := 1;"), true
	},
	"rename a variable": func(s source, n ast.Node) (replacement, bool) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE || s.textOf(a.Lhs[0]) == "_" {
			return replacement{}, false
		}
		return s.insert(a.Lhs[0].End(), "Renamed"), true
	},
	"define in place of assign, and assign in place of define": func(s source, n ast.Node) (replacement, bool) {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return replacement{}, false
		}
		switch a.Tok {
		case token.DEFINE:
			return replacement{s.at(a.TokPos), s.at(a.TokPos) + 2, "="}, !isRange(a)
		case token.ASSIGN:
			return replacement{s.at(a.TokPos), s.at(a.TokPos) + 1, ":="}, !slices.ContainsFunc(a.Lhs, isNoIdent)
		}
		return replacement{}, false
	},
	"assign two values": func(s source, n ast.Node) (replacement, bool) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || isRange(a) || a.Tok != token.DEFINE && a.Tok != token.ASSIGN {
			return replacement{}, false
		}
		return s.insert(a.Rhs[len(a.Rhs)-1].End(), ", 1"), true
	},
	"swap arguments": func(s source, n ast.Node) (replacement, bool) {
		c, ok := n.(*ast.CallExpr)
		if !ok || len(c.Args) < 2 || c.Ellipsis.IsValid() {
			return replacement{}, false
		}
		return s.swap(c.Args[0], c.Args[1]), true
	},
	"remove an argument": func(s source, n ast.Node) (replacement, bool) {
		c, ok := n.(*ast.CallExpr)
		if !ok || len(c.Args) == 0 || c.Ellipsis.IsValid() {
			return replacement{}, false
		}
		return replacement{s.at(c.Args[len(c.Args)-1].Pos()), s.at(c.Rparen), ""}, true
	},
	"add an argument": func(s source, n ast.Node) (replacement, bool) {
		c, ok := n.(*ast.CallExpr)
		if !ok || len(c.Args) == 0 || c.Ellipsis.IsValid() {
			return replacement{}, false
		}
		return s.insert(c.Args[len(c.Args)-1].End(), ", struct{}{}"), true
	},
	"select a missing name": func(s source, n ast.Node) (replacement, bool) {
		e, ok := n.(*ast.SelectorExpr)
		if !ok {
			return replacement{}, false
		}
		return s.insert(e.Sel.End(), "Missing"), true
	},
	"use a missing key": func(s source, n ast.Node) (replacement, bool) {
		e, ok := n.(*ast.KeyValueExpr)
		if !ok || isNoIdent(e.Key) {
			return replacement{}, false
		}
		return s.insert(e.Key.End(), "Missing"), true
	},
	"duplicate an element": func(s source, n ast.Node) (replacement, bool) {
		l, ok := n.(*ast.CompositeLit)
		if !ok || len(l.Elts) == 0 {
			return replacement{}, false
		}
		return s.insert(l.Elts[0].Pos(), s.textOf(l.Elts[0])+", "), true
	},
	"change a literal": func(s source, n ast.Node) (replacement, bool) {
		l, ok := n.(*ast.BasicLit)
		if !ok || l.Kind == token.STRING && s.text[max(0, s.at(l.Pos())-1)] == '\t' {
			return replacement{}, false // an import or a tag
		}
		if l.Kind == token.STRING {
			return s.replace(n, "42"), true
		}
		return s.replace(n, `"changed"`), true
	},
	"change an operator": func(s source, n ast.Node) (replacement, bool) {
		e, ok := n.(*ast.BinaryExpr)
		if !ok {
			return replacement{}, false
		}
		text := "+"
		if e.Op == token.ADD {
			text = "&&"
		}
		return replacement{s.at(e.OpPos), s.at(e.OpPos) + len(e.Op.String()), text}, true
	},
	"take the address, or don't": func(s source, n ast.Node) (replacement, bool) {
		switch e := n.(type) {
		case *ast.UnaryExpr:
			return replacement{s.at(e.OpPos), s.at(e.OpPos) + len(e.Op.String()), ""}, e.Op == token.AND
		case *ast.StarExpr:
			return replacement{s.at(e.Star), s.at(e.Star) + 1, ""}, true
		case *ast.CompositeLit:
			return s.insert(e.Pos(), "&"), e.Type != nil
		}
		return replacement{}, false
	},
	"assert a type": func(s source, n ast.Node) (replacement, bool) {
		r, ok := n.(*ast.ReturnStmt)
		if !ok || len(r.Results) == 0 {
			return replacement{}, false
		}
		return s.insert(r.Results[0].End(), ".(error)"), true
	},
	"return nothing": func(s source, n ast.Node) (replacement, bool) {
		r, ok := n.(*ast.ReturnStmt)
		return s.replace(n, "return"), ok && len(r.Results) > 0
	},
	"break": func(s source, n ast.Node) (replacement, bool) {
		_, ok := n.(*ast.ReturnStmt)
		return s.replace(n, "break"), ok
	},
}

func isFunc(e ast.Expr) bool { _, ok := e.(*ast.FuncType); return ok }

func isNoIdent(e ast.Expr) bool { _, ok := e.(*ast.Ident); return !ok }

// isRange reports whether an assignment is the header of a range loop or of a type switch, as far as the values tell.
func isRange(a *ast.AssignStmt) bool {
	if len(a.Rhs) != 1 {
		return false
	}
	switch e := a.Rhs[0].(type) {
	case *ast.TypeAssertExpr:
		return e.Type == nil
	case *ast.UnaryExpr:
		return e.Op == token.RANGE
	}
	return false
}

// parses reports whether the syntax of a Go file is valid.
func parses(name string, data []byte) bool {
	_, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
	return err == nil
}

// edit returns the file name with an edit of a random kind at a random place, and a description. It returns nil if no edit
// applies.
func edit(t *testing.T, random *rand.Rand, name string) ([]byte, string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, ""
	}
	s := source{parsed, string(data), token.Pos(fset.File(parsed.Pos()).Base())}
	kinds := slices.Sorted(maps.Keys(edits))
	for range 5 {
		kind := kinds[random.IntN(len(kinds))]
		var found []replacement
		ast.Inspect(parsed, func(n ast.Node) bool {
			if n == nil {
				return false
			}
			if r, ok := edits[kind](s, n); ok {
				found = append(found, r)
			}
			return true
		})
		if len(found) > 0 {
			r := found[random.IntN(len(found))]
			line := 1 + strings.Count(s.text[:r.from], "\n")
			edited := []byte(s.text[:r.from] + r.text + s.text[r.to:])
			if !parses(name, edited) {
				continue // a file with invalid syntax hides all other errors
			}
			return edited, fmt.Sprintf("%s:%d: %s", filepath.Base(name), line, kind)
		}
	}
	return nil, ""
}
