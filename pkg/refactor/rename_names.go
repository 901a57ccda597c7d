package refactor

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
)

// findNames determines the new names of declarations from the scaffold's names.
func (x *renamer) findNames() {
	declared := x.declared()
	for _, t := range x.Pairs {
		if t.Part || path.Ext(t.From) != ".go" || t.Old == t.New {
			continue
		}
		before, after := topLevel(t.Old), topLevel(t.New)
		if len(before) != len(after) {
			continue
		}
		for i, name := range before {
			id := declared[path.Dir(t.From)][name]
			if id == nil || name == after[i] || strings.HasSuffix(t.From, "_test.go") {
				continue
			}
			x.rename(id, x.info.Defs[id], after[i])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.changes)) {
		if f := x.m.Files[name]; f != nil && f.IsBuilt() {
			x.namesFromLines(f, x.changes[name])
		}
	}
	for _, name := range x.m.Names() {
		x.renameImports(x.m.Files[name])
	}
	x.renameEmbedded()
}

// rename records a new name.
func (x *renamer) rename(at *ast.Ident, obj types.Object, name string) {
	if obj == nil || !x.isOwn(obj) {
		return
	}
	if known, ok := x.newNames[obj.Pos()]; ok && known != name {
		p := x.m.Fset.Position(at.Pos())
		x.findings = append(x.findings, diag.Finding{Position: diag.Position{File: p.Filename, Line: p.Line, Column: p.Column},
			Problem: fmt.Sprintf("%s would have to become both %s and %s", obj.Name(), known, name)})
		return
	}
	x.newNames[obj.Pos()] = name
	if obj.Parent() != nil && obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() {
		x.words[obj.Name()] = name
	}
}

// isOwn reports whether an object is declared in the module.
func (x *renamer) isOwn(obj types.Object) bool {
	if obj.Pkg() == nil || !obj.Pos().IsValid() {
		return false
	}
	p := strings.TrimSuffix(obj.Pkg().Path(), "_test")
	_, inModule := x.m.DirOf(p)
	return inModule
}

// declared returns the package-level names by directory.
func (x *renamer) declared() map[string]map[string]*ast.Ident {
	all := map[string]map[string]*ast.Ident{}
	for _, f := range x.m.Files {
		if !f.IsBuilt() || f.IsExternalTest() {
			continue
		}
		if all[f.Dir()] == nil {
			all[f.Dir()] = map[string]*ast.Ident{}
		}
		for _, id := range gosource.TopLevel(f.AST) {
			all[f.Dir()][id.Name] = id
		}
	}
	return all
}

// topLevel lists the package-level names that a source declares, in order, without methods.
func topLevel(src string) []string {
	file, err := gosource.Parse("", []byte(src))
	if err != nil {
		return nil
	}
	var names []string
	for _, id := range gosource.TopLevel(file.AST) {
		names = append(names, id.Name)
	}
	return names
}

// namesFromLines derives new names from changed lines: the object of such an identifier has the new name everywhere.
func (x *renamer) namesFromLines(f *gosource.File, changes []change) {
	at := identsByLine(x.m.Fset, f.AST)
	for _, c := range changes {
		if c.end != c.start+1 || len(c.lines) != 1 {
			continue
		}
		old := at[c.start+1]
		names := identifiers(c.lines[0])
		if len(old) != len(names) {
			continue
		}
		for i, id := range old {
			if id.Name == names[i] || id == f.AST.Name {
				continue
			}
			obj := x.info.Defs[id]
			if obj == nil {
				obj = x.info.Uses[id]
			}
			x.rename(id, obj, names[i])
		}
	}
}

// identsByLine returns the identifiers of a file by line, counted from 1, in order.
func identsByLine(fset *token.FileSet, file *ast.File) map[int][]*ast.Ident {
	byLine := map[int][]*ast.Ident{}
	for _, id := range identsOf(file, true) {
		line := fset.PositionFor(id.Pos(), false).Line
		byLine[line] = append(byLine[line], id)
	}
	return byLine
}

// identsOf returns the identifiers of a file in order, with or without identifiers in imports.
func identsOf(file *ast.File, imports bool) []*ast.Ident {
	var ids []*ast.Ident
	ast.Inspect(file, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok && !imports {
			return false
		}
		if id, ok := n.(*ast.Ident); ok {
			ids = append(ids, id)
		}
		return true
	})
	slices.SortFunc(ids, func(a, b *ast.Ident) int { return int(a.Pos() - b.Pos()) })
	return ids
}

func identifiers(line string) []string {
	fset := token.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile("", fset.Base(), len(line)), []byte(line), func(token.Position, string) {}, 0)
	var names []string
	for {
		_, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return names
		case token.IDENT:
			names = append(names, lit)
		}
	}
}

// renameImports renames imports of renamed packages, and those with a name of the scaffold.
func (x *renamer) renameImports(f *gosource.File) {
	if !f.IsBuilt() {
		return
	}
	for _, spec := range f.AST.Imports {
		dir, inModule := x.m.DirOf(gosource.ImportPath(spec))
		if !inModule {
			continue
		}
		if spec.Name == nil {
			if pkg := x.Packages[dir]; pkg != "" {
				if obj := x.info.Implicits[spec]; obj != nil {
					x.newNames[obj.Pos()] = pkg
				}
			}
			continue
		}
		obj := x.info.Defs[spec.Name]
		if obj == nil || x.newNames[obj.Pos()] != "" {
			continue
		}
		if alias := x.newAlias(f, spec, dir); alias != "" {
			x.newNames[obj.Pos()] = alias
		}
	}
}

// newAlias returns the new name by which a file imports a package, or "" if it does not change.
func (x *renamer) newAlias(f *gosource.File, spec *ast.ImportSpec, dir string) string {
	alias := x.Aliases[dir]
	if spec.Name.Name != alias[0] || alias[1] == alias[0] || mentions(f.AST, alias[1]) {
		return ""
	}
	return alias[1]
}

// renameEmbedded renames embedded fields with their types.
func (x *renamer) renameEmbedded() {
	for id, obj := range x.info.Defs {
		field, ok := obj.(*types.Var)
		if !ok || !field.Embedded() {
			continue
		}
		if of := x.info.Uses[id]; of != nil {
			if name := x.newNames[of.Pos()]; name != "" && x.isOwn(of) {
				x.newNames[field.Pos()] = name
			}
		}
	}
}
