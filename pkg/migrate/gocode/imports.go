package gocode

import (
	"bytes"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

func pathOf(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return p
}

// localName is the name by which a file uses what it imports.
func localName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return packageName(pathOf(spec))
}

// packageName is what a package is called by its import path.
func packageName(importPath string) string {
	if importPath == runtimeModule {
		return "controllerruntime"
	}
	base := path.Base(importPath)
	if isMajor(base) && importPath != base {
		base = path.Base(path.Dir(importPath))
	}
	if i := strings.LastIndex(base, ".v"); i > 0 && strings.HasPrefix(importPath, "gopkg.in/") {
		base = base[:i]
	}
	return base
}

// isMajor tells of a path element that is a major version: v2 and later.
func isMajor(element string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(element, "v"))
	return err == nil && n > 1 && element[0] == 'v'
}

// use gives the name by which the file can use a package, and imports it if that is needed.
func (f *source) use(importPath, usual string) string {
	for name, p := range f.imports {
		if p == importPath {
			return name
		}
	}
	for _, spec := range f.added {
		if spec.path == importPath {
			return spec.name
		}
	}
	name := usual
	for i := 2; f.taken(name); i++ {
		name = usual + strconv.Itoa(i)
	}
	f.added = append(f.added, importSpec{name, importPath})
	return name
}

// taken tells whether anything in the file or in its package goes by a name.
func (f *source) taken(name string) bool {
	if f.imports[name] != "" || slices.ContainsFunc(f.added, func(s importSpec) bool { return s.name == name }) {
		return true
	}
	found := false
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name && id.Obj != nil {
			found = true
		}
		return !found
	})
	return found
}

// used are the names of imports that something in the file refers to.
func (f *source) used() map[string]bool {
	used := map[string]bool{}
	for id := range f.free {
		if f.imports[id.Name] != "" {
			used[id.Name] = true
		}
	}
	return used
}

// addImports asks for imports: in the group that has most in common with each, in order.
func (f *source) addImports(specs []importSpec) {
	for _, spec := range specs {
		text := strconv.Quote(spec.path)
		if packageName(spec.path) != spec.name {
			text = spec.name + " " + text
		}
		f.edits = append(f.edits, f.importEdit(spec.path, text))
	}
}

func (f *source) importEdit(importPath, text string) textdiff.Edit {
	var all []*ast.ImportSpec
	var block *ast.GenDecl
	for _, decl := range f.tree.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.IMPORT {
			continue
		}
		for _, spec := range gen.Specs {
			if gen.Lparen.IsValid() && pathOf(spec.(*ast.ImportSpec)) != "C" {
				all = append(all, spec.(*ast.ImportSpec))
			}
		}
		if gen.Lparen.IsValid() && block == nil {
			block = gen
		}
	}
	at := func(offset int, text string) textdiff.Edit {
		return textdiff.Edit{From: offset, To: offset, Text: text}
	}
	if len(all) == 0 {
		if len(f.tree.Imports) > 0 {
			for _, decl := range f.tree.Decls {
				if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.IMPORT {
					return at(f.lineStart(gen.Pos()), "import "+text+"\n")
				}
			}
		}
		return at(f.lineEnd(f.tree.Name.End()), "\nimport "+text+"\n")
	}
	best, score := (*ast.ImportSpec)(nil), -1
	for _, spec := range all {
		if s := alike(pathOf(spec), importPath); s > score || best != nil && s == score && pathOf(spec) < importPath && pathOf(best) < pathOf(spec) {
			best, score = spec, s
		}
	}
	if score < 0 {
		if scaffold.IsStandard(importPath) {
			return at(f.lineEnd(block.Lparen), "\t"+text+"\n\n")
		}
		return at(f.lineEnd(all[len(all)-1].End()), "\n\t"+text+"\n")
	}
	if pathOf(best) > importPath {
		return at(f.lineStart(startOf(best)), "\t"+text+"\n")
	}
	return at(f.lineEnd(best.End()), "\t"+text+"\n")
}

// alike counts the leading elements that two import paths share; it is negative where one is of the standard
// library and the other is not, or where they share nothing otherwise.
func alike(a, b string) int {
	if scaffold.IsStandard(a) != scaffold.IsStandard(b) {
		return -1
	}
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

func (f *source) lineStart(pos token.Pos) int {
	return bytes.LastIndexByte(f.text[:f.offset(pos)], '\n') + 1
}

// lineEnd is behind the line break of the line that a position is in.
func (f *source) lineEnd(pos token.Pos) int {
	if n := bytes.IndexByte(f.text[f.offset(pos):], '\n'); n >= 0 {
		return f.offset(pos) + n + 1
	}
	return len(f.text)
}

// dropUnused asks for imports to go that were used before and are not any more.
func (f *source) dropUnused(before map[string]bool) {
	now := f.used()
	for _, decl := range f.tree.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.IMPORT {
			continue
		}
		var unused []*ast.ImportSpec
		for _, spec := range gen.Specs {
			s := spec.(*ast.ImportSpec)
			if name := localName(s); before[name] && !now[name] {
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

func startOf(spec *ast.ImportSpec) token.Pos {
	if spec.Doc != nil {
		return spec.Doc.Pos()
	}
	return spec.Pos()
}
