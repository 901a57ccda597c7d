package merge

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// A goUnit is a unit of entire lines.
type goUnit struct {
	key      string
	from, to int
	// units are the units in a container, in the lines from inFrom up to inTo.
	units        []*goUnit
	inFrom, inTo int
	splittable   bool
}

// unit returns the unit of the lines of a node, with comments that begin on its last line.
func (s *goSource) unit(key string, n ast.Node) *goUnit {
	u := &goUnit{key: key, from: s.lineIndex(n.Pos()), to: s.lineIndex(n.End()) + 1}
	for _, group := range s.AST.Comments {
		for _, c := range group.List {
			if s.lineIndex(c.Pos()) == u.to-1 {
				u.to = s.lineIndex(c.End()) + 1
			}
		}
	}
	return u
}

// contain makes a unit a container of the units between two of its lines, if all have separate lines.
func (u *goUnit) contain(units []*goUnit, open, close int) {
	units = apart(units)
	if len(units) > 0 && (units[0].from <= open || units[len(units)-1].to > close) || open >= close {
		return
	}
	u.units, u.inFrom, u.inTo = units, open+1, close
}

// apart joins units that share lines.
func apart(units []*goUnit) []*goUnit {
	var out []*goUnit
	for _, u := range units {
		if n := len(out); n > 0 && u.from < out[n-1].to {
			out[n-1] = &goUnit{key: out[n-1].key + "; " + u.key, from: out[n-1].from, to: max(u.to, out[n-1].to)}
			continue
		}
		out = append(out, u)
	}
	return out
}

// headerKey is the key of the unit before the comment of the package clause: the license header and build constraints.
const headerKey = "header"

func (s *goSource) declarations() []*goUnit {
	var units []*goUnit
	if at := s.headerEnd(); at > 0 {
		units = append(units, &goUnit{key: headerKey, to: at})
	}
	units = append(units, &goUnit{key: "package", from: s.lineIndex(s.AST.Package), to: s.lineIndex(s.AST.Name.End()) + 1})
	for _, decl := range s.AST.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			units = append(units, s.functionUnit(d))
		case *ast.GenDecl:
			units = append(units, s.generalUnit(d))
		}
	}
	return apart(units)
}

// headerEnd returns the line after the license header, where the package clause or its comment starts.
func (s *goSource) headerEnd() int {
	if s.AST.Doc != nil {
		return s.lineIndex(s.AST.Doc.Pos())
	}
	return s.lineIndex(s.AST.Package)
}

func (s *goSource) functionUnit(d *ast.FuncDecl) *goUnit {
	if d.Recv != nil && len(d.Recv.List) > 0 {
		recv := strings.TrimPrefix(s.key(d.Recv.List[0].Type), "*")
		return s.declaration("method "+recv+"."+d.Name.Name, d)
	}
	u := s.declaration("func "+d.Name.Name, d)
	if (d.Name.Name == "main" || d.Name.Name == "init") && d.Body != nil {
		u.contain(s.statements(d.Body.List), s.lineIndex(d.Body.Lbrace), s.lineIndex(d.Body.Rbrace))
	}
	return u
}

// declaration returns the unit of a declaration without its comment.
func (s *goSource) declaration(key string, d ast.Decl) *goUnit {
	u := s.unit(key, d)
	switch d := d.(type) {
	case *ast.FuncDecl:
		u.from = s.lineIndex(d.Type.Func)
	case *ast.GenDecl:
		u.from = s.lineIndex(d.TokPos)
	}
	return u
}

func (s *goSource) generalUnit(d *ast.GenDecl) *goUnit {
	if d.Tok == token.IMPORT {
		return s.importUnit(d)
	}
	if !d.Lparen.IsValid() {
		return s.declaration(s.specKey(d.Tok, d.Specs[0]), d)
	}
	u := s.declaration(d.Tok.String()+" block", d)
	u.splittable = true
	var units []*goUnit
	for _, spec := range d.Specs {
		unit := s.unit(s.specKey(d.Tok, spec), spec)
		if t, ok := spec.(*ast.TypeSpec); ok {
			unit.from = s.lineIndex(t.Name.Pos())
		}
		units = append(units, unit)
	}
	if d.Tok == token.CONST && usesIota(d) {
		return u // values depend on the order
	}
	u.contain(units, s.lineIndex(d.Lparen), s.lineIndex(d.Rparen))
	return u
}

// usesIota reports whether constants of a block depend on preceding ones.
func usesIota(d *ast.GenDecl) bool {
	found := slices.ContainsFunc(d.Specs, func(spec ast.Spec) bool { return len(spec.(*ast.ValueSpec).Values) == 0 })
	ast.Inspect(d, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == "iota"
		return !found
	})
	return found
}

func (s *goSource) specKey(tok token.Token, spec ast.Spec) string {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return "type " + spec.Name.Name
	case *ast.ValueSpec:
		key := tok.String() + " " + identNames(spec.Names)
		if len(spec.Names) == 1 && spec.Names[0].Name == "_" && len(spec.Values) == 1 {
			if call, ok := spec.Values[0].(*ast.CallExpr); ok {
				return key + " " + s.callKey(call)
			}
		}
		return key
	}
	return tok.String()
}

func identNames(ids []*ast.Ident) string {
	var names []string
	for _, id := range ids {
		names = append(names, id.Name)
	}
	return strings.Join(names, ",")
}

// statements returns the units of a list of statements. A check of an error belongs to the statement before it.
func (s *goSource) statements(list []ast.Stmt) []*goUnit {
	var units []*goUnit
	for i, stmt := range list {
		if i > 0 && isErrorCheck(stmt) && assignsError(list[i-1]) {
			u := units[len(units)-1]
			u.to = s.unit("", stmt).to
			continue
		}
		u := s.unit(s.statementKey(stmt), stmt)
		s.splitLiteral(u, stmt)
		units = append(units, u)
	}
	return units
}

// isErrorCheck reports whether a statement is "if err != nil {…}".
func isErrorCheck(stmt ast.Stmt) bool {
	check, ok := stmt.(*ast.IfStmt)
	if !ok || check.Init != nil {
		return false
	}
	cond, ok := check.Cond.(*ast.BinaryExpr)
	return ok && gosource.IsIdent(cond.X, "err") && gosource.IsIdent(cond.Y, "nil")
}

func assignsError(stmt ast.Stmt) bool {
	assign, ok := stmt.(*ast.AssignStmt)
	return ok && slices.ContainsFunc(assign.Lhs, func(e ast.Expr) bool { return gosource.IsIdent(e, "err") })
}

// splitLiteral makes the unit of a statement a container of fields if the statement has exactly one multi-line literal
// with fields.
func (s *goSource) splitLiteral(u *goUnit, stmt ast.Stmt) {
	var literals []*ast.CompositeLit
	ast.Inspect(stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt, *ast.FuncLit:
			return false
		case *ast.CompositeLit:
			if s.lineIndex(n.Lbrace) < s.lineIndex(n.Rbrace) {
				literals = append(literals, n)
				return false
			}
		}
		return true
	})
	if len(literals) != 1 || len(literals[0].Elts) == 0 {
		return
	}
	var fields []*goUnit
	for _, e := range literals[0].Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		fields = append(fields, s.unit(s.key(kv.Key), kv))
	}
	u.contain(fields, s.lineIndex(literals[0].Lbrace), s.lineIndex(literals[0].Rbrace))
}

// importUnit returns the container of an import declaration.
func (s *goSource) importUnit(d *ast.GenDecl) *goUnit {
	u := s.declaration("imports", d)
	u.splittable = true
	var units []*goUnit
	for _, spec := range d.Specs {
		spec := spec.(*ast.ImportSpec)
		unit := s.unit(s.importKey(spec), spec)
		unit.from = s.lineIndex(spec.Path.Pos())
		if spec.Name != nil {
			unit.from = s.lineIndex(spec.Name.Pos())
		}
		units = append(units, unit)
	}
	if d.Lparen.IsValid() {
		u.contain(units, s.lineIndex(d.Lparen), s.lineIndex(d.Rparen))
	} else {
		u.units, u.inFrom, u.inTo = units, u.from, u.to
	}
	return u
}

// importKey returns the path of an import, after the name of a blank or dot import, or before the name if the file
// imports the package under another name before.
func (s *goSource) importKey(spec *ast.ImportSpec) string {
	path := gosource.ImportPath(spec)
	switch {
	case spec.Name == nil:
		return path
	case spec.Name.Name == "_" || spec.Name.Name == ".":
		return spec.Name.Name + " " + path
	case s.importNames()[path] != spec.Name.Name:
		return path + " " + spec.Name.Name
	}
	return path
}
