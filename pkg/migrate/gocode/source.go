package gocode

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// source is a Go file that is rewritten in steps: what a step asks for is carried out by apply.
type source struct {
	program *program
	name    string
	// before is the file as it was, text with the line ends of Unix.
	before, text []byte
	crlf, clean  bool
	fset         *token.FileSet
	tree         *ast.File
	// imports are the paths of imported packages by the names that the file uses for them, dots those whose names it
	// uses as its own, free the identifiers that are not declared in the file.
	imports map[string]string
	dots    []string
	free    map[*ast.Ident]bool
	edits   []textdiff.Edit
	added   []importSpec
	notes   []Note
}

// importSpec is an import that is wanted. The name is always one that the file can use as it is.
type importSpec struct{ name, path string }

// newSource is nil for a file that cannot be parsed.
func newSource(p *program, name string, text []byte) *source {
	f := &source{program: p, name: name, before: text, text: text}
	if n := bytes.Count(text, []byte("\n")); n > 0 && bytes.Count(text, []byte("\r\n")) == n {
		f.crlf, f.text = true, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	if !f.parse(f.text) {
		return nil
	}
	formatted, err := format.Source(f.text)
	f.clean = err == nil && bytes.Equal(formatted, f.text)
	return f
}

// bytes is the file as it is now, with the line ends that it had.
func (f *source) bytes() []byte {
	if f.crlf {
		return bytes.ReplaceAll(f.text, []byte("\n"), []byte("\r\n"))
	}
	return f.text
}

func (f *source) parse(text []byte) bool {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, f.name, text, parser.ParseComments)
	if err != nil {
		return false
	}
	f.text, f.fset, f.tree = text, fset, tree
	f.imports, f.free = map[string]string{}, map[*ast.Ident]bool{}
	f.dots = nil
	for _, spec := range tree.Imports {
		switch name := localName(spec); name {
		case "_":
		case ".":
			f.dots = append(f.dots, pathOf(spec))
		default:
			f.imports[name] = pathOf(spec)
		}
	}
	for _, id := range tree.Unresolved {
		f.free[id] = true
	}
	return true
}

func (f *source) dir() string { return path.Dir(f.name) }

func (f *source) test() bool { return strings.HasSuffix(f.name, "_test.go") }

func (f *source) offset(pos token.Pos) int { return f.fset.PositionFor(pos, false).Offset }

func (f *source) line(pos token.Pos) int { return f.fset.PositionFor(pos, false).Line }

// source is what stands for a node in the file.
func (f *source) source(n ast.Node) string {
	return string(f.text[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *source) replace(n ast.Node, text string) { f.put(n.Pos(), n.End(), text) }

// rename gives a name another one, and leaves the package before it as it is.
func (f *source) rename(e ast.Expr, name string) {
	if selector, ok := e.(*ast.SelectorExpr); ok {
		e = selector.Sel
	}
	f.replace(e, name)
}

func (f *source) cut(from, to token.Pos) { f.put(from, to, "") }

func (f *source) insert(at token.Pos, text string) { f.put(at, at, text) }

func (f *source) put(from, to token.Pos, text string) {
	f.edits = append(f.edits, textdiff.Edit{From: f.offset(from), To: f.offset(to), Text: text})
}

// cutLines takes lines away, with an empty one behind where there is one before too, or where a block begins.
func (f *source) cutLines(first, last token.Pos) {
	from, to := f.lineStart(first), f.lineEnd(last)
	before := bytes.TrimRight(f.text[:from], " \t\n")
	opens := bytes.HasSuffix(before, []byte("{")) || bytes.HasSuffix(before, []byte("("))
	if behind := bytes.TrimLeft(f.text[to:], " \t"); bytes.HasPrefix(behind, []byte("}")) && bytes.HasSuffix(f.text[:from], []byte("\n\n")) {
		from--
	}
	if bytes.HasPrefix(f.text[to:], []byte("\n")) && (opens || bytes.HasSuffix(f.text[:from], []byte("\n\n"))) {
		to++
	}
	f.edits = append(f.edits, textdiff.Edit{From: from, To: to})
}

// note tells of a place. Lines are those of the file when the step runs, so steps that note come last.
func (f *source) note(at token.Pos, message string) {
	f.notes = append(f.notes, Note{File: f.name, Line: f.line(at), Message: message})
}

// gone tells of something that was taken away.
func (f *source) gone(message string) {
	f.notes = append(f.notes, Note{File: f.name, Message: message})
}

// importsPath tells whether the file imports a package or one below it.
func (f *source) importsPath(importPath string) bool {
	return slices.ContainsFunc(f.tree.Imports, func(spec *ast.ImportSpec) bool {
		return pathOf(spec) == importPath || strings.HasPrefix(pathOf(spec), importPath+"/")
	})
}

// is tells whether an expression is one of some names of a package.
func (f *source) is(e ast.Expr, importPath string, names ...string) bool {
	if id, ok := e.(*ast.Ident); ok {
		return f.free[id] && slices.Contains(f.dots, importPath) && slices.Contains(names, id.Name)
	}
	from, name := f.named(e)
	return from == importPath && slices.Contains(names, name)
}

// named is the package and the name in it that a qualified name stands for; empty for anything else.
func (f *source) named(e ast.Expr) (importPath, name string) {
	if paren, ok := e.(*ast.ParenExpr); ok {
		e = paren.X
	}
	if selector, ok := e.(*ast.SelectorExpr); ok {
		if id, ok := selector.X.(*ast.Ident); ok && f.free[id] {
			return f.imports[id.Name], selector.Sel.Name
		}
	}
	return "", ""
}

// apply carries out what a step asked for and reads the result. An import that lost its last use goes, those that are
// wanted are added. Where the result would not parse, nothing happens.
func (f *source) apply() {
	if len(f.edits) == 0 && len(f.added) == 0 {
		return
	}
	old, used, added := f.text, f.used(), f.added
	f.added = nil
	ok := f.edit()
	f.addImports(added)
	ok = ok && f.edit()
	f.dropUnused(used)
	ok = ok && f.edit()
	if formatted, err := format.Source(f.text); ok && f.clean && err == nil {
		ok = f.parse(formatted)
	}
	if !ok {
		f.parse(old)
	}
}

// edit carries out the edits that were asked for. Where the result does not parse, the file stays as it is.
func (f *source) edit() bool {
	text := textdiff.Apply(f.text, f.edits)
	f.edits = nil
	return f.parse(text)
}
