package gocode

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// use returns the name by which the file can refer to a package, and adds an import if needed.
func (f *source) use(importPath, usual string) string {
	if name := f.importedAs(importPath); name != "" {
		return name
	}
	for _, spec := range f.added {
		if spec.path == importPath {
			return spec.name
		}
	}
	name := usual
	for i := 2; f.isTaken(name); i++ {
		name = usual + strconv.Itoa(i)
	}
	f.added = append(f.added, addedImport{name, importPath})
	return name
}

// importedAs returns the name by which the file imports a package, or "".
func (f *source) importedAs(importPath string) string {
	for _, spec := range f.AST.Imports {
		if name := f.ImportName(spec); f.imports[name] == importPath {
			return name
		}
	}
	return ""
}

// isTaken reports whether the file or its package uses a name.
func (f *source) isTaken(name string) bool {
	if f.imports[name] != "" || slices.ContainsFunc(f.added, func(s addedImport) bool { return s.name == name }) || f.packageDeclares(name) {
		return true
	}
	for id := range nodes[*ast.Ident](f.AST) {
		if id.Name == name && id.Obj != nil {
			return true
		}
	}
	return false
}

// usedImports returns the keys of the imports that something in the file refers to.
func (f *source) usedImports() map[string]bool {
	names := map[string]bool{}
	for _, id := range f.AST.Unresolved {
		names[id.Name] = true
	}
	used := map[string]bool{}
	for _, spec := range f.AST.Imports {
		if names[f.ImportName(spec)] {
			used[gosource.ImportSource(spec)] = true
		}
	}
	return used
}

// addImports adds imports in order, each in the group with the most similar paths.
func (f *source) addImports(specs []addedImport) {
	for _, spec := range specs {
		text := strconv.Quote(spec.path)
		if gosource.PackageName(spec.path) != spec.name {
			text = spec.name + " " + text
		}
		f.edits = append(f.edits, f.importEdit(spec.path, text))
	}
}

// importEdit returns the edit that adds an import, in the block of imports with parentheses if there is one.
func (f *source) importEdit(importPath, text string) textdiff.Edit {
	var first, block *ast.GenDecl
	var last, best *ast.ImportSpec // in blocks
	score := -1
	for _, decl := range f.AST.Decls {
		if !isImport(decl) {
			continue
		}
		gen := decl.(*ast.GenDecl)
		first = cmp.Or(first, gen)
		if !gen.Lparen.IsValid() {
			continue
		}
		block = cmp.Or(block, gen)
		for _, s := range gen.Specs {
			spec := s.(*ast.ImportSpec)
			p := gosource.ImportPath(spec)
			if p == "C" {
				continue
			}
			last = spec
			common := commonElements(p, importPath)
			if common > score || best != nil && common == score && p < importPath && gosource.ImportPath(best) < p {
				best, score = spec, common
			}
		}
	}
	at := func(offset int, text string) textdiff.Edit {
		return textdiff.Edit{From: offset, To: offset, Text: text}
	}
	switch {
	case first == nil:
		return at(f.LineEnd(f.AST.Name.End()), "\nimport "+text+"\n")
	case last == nil:
		return at(f.LineStart(first.Pos()), "import "+text+"\n")
	case best == nil && gosource.IsStandard(importPath):
		return at(f.LineEnd(block.Lparen), "\t"+text+"\n\n")
	case best == nil:
		return at(f.LineEnd(last.End()), "\n\t"+text+"\n")
	case gosource.ImportPath(best) > importPath:
		return at(f.LineStart(startOf(best)), "\t"+text+"\n")
	}
	return at(f.LineEnd(best.End()), "\t"+text+"\n")
}

// isImport reports whether a declaration is one of imports.
func isImport(decl ast.Decl) bool {
	general, ok := decl.(*ast.GenDecl)
	return ok && general.Tok == token.IMPORT
}

// commonElements returns the number of leading elements that two import paths share, or -1 if only one is of the
// standard library or they share none.
func commonElements(a, b string) int {
	if gosource.IsStandard(a) != gosource.IsStandard(b) {
		return -1
	}
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// dropUnused removes imports that were used before and are not used any more.
func (f *source) dropUnused(before map[string]bool) {
	now := f.usedImports()
	for _, decl := range f.AST.Decls {
		if !isImport(decl) {
			continue
		}
		gen := decl.(*ast.GenDecl)
		var unused []*ast.ImportSpec
		for _, spec := range gen.Specs {
			s := spec.(*ast.ImportSpec)
			if key := gosource.ImportSource(s); before[key] && !now[key] {
				unused = append(unused, s)
			}
		}
		if len(unused) == len(gen.Specs) && len(unused) > 0 {
			f.cutLines(gen.Pos(), gen.End())
			continue
		}
		for _, s := range unused {
			f.cutLines(startOf(s), s.End())
		}
	}
}
