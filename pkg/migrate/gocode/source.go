package gocode

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/token"
	"iter"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// A source is a Go file that is rewritten in steps. A step records edits and imports; apply carries them out.
type source struct {
	*gosource.File
	program *program
	// original is the content of the file. The text of File has LF line ends.
	original        []byte
	crlf, formatted bool
	// imports maps the local names of imports to their paths; dots holds the paths of dot imports.
	imports map[string]string
	dots    []string
	edits   []textdiff.Edit
	added   []addedImport
	notes   diag.Findings
}

// An addedImport is an import to add under a name that is free in the file.
type addedImport struct{ name, path string }

// newSource returns nil for a file that cannot be parsed.
func newSource(p *program, name string, text []byte) *source {
	f := &source{program: p, File: &gosource.File{Name: name}, original: text}
	text, f.crlf = textdiff.ToLF(text)
	if !f.parse(text) {
		return nil
	}
	f.formatted = f.IsFormatted()
	return f
}

// bytes returns the current content of the file with its original line ends.
func (f *source) bytes() []byte { return textdiff.FromLF(f.Text, f.crlf) }

// parse sets the text of the file. It returns false and changes nothing if the text is not valid Go.
func (f *source) parse(text []byte) bool {
	parsed, err := gosource.Parse(f.Name, text)
	if err != nil {
		return false
	}
	f.File, f.imports, f.dots = parsed, map[string]string{}, nil
	for _, spec := range f.AST.Imports {
		switch name := f.ImportName(spec); name {
		case "_":
		case ".":
			f.dots = append(f.dots, gosource.ImportPath(spec))
		default:
			f.imports[name] = gosource.ImportPath(spec)
		}
	}
	return true
}

func (f *source) replace(n ast.Node, text string) { f.replaceRange(n.Pos(), n.End(), text) }

// rename replaces a name, without the qualifier of its package.
func (f *source) rename(e ast.Expr, name string) {
	if selector, ok := e.(*ast.SelectorExpr); ok {
		e = selector.Sel
	}
	f.replace(e, name)
}

func (f *source) cut(from, to token.Pos) { f.replaceRange(from, to, "") }

func (f *source) insert(at token.Pos, text string) { f.replaceRange(at, at, text) }

func (f *source) replaceRange(from, to token.Pos, text string) {
	f.edits = append(f.edits, textdiff.Edit{From: f.Offset(from), To: f.Offset(to), Text: text})
}

// cutLines removes lines, and a following blank line if one precedes them or if they start a block.
func (f *source) cutLines(first, last token.Pos) {
	from, to := f.LineStart(first), f.LineEnd(last)
	before := bytes.TrimRight(f.Text[:from], " \t\n")
	opens := bytes.HasSuffix(before, []byte("{")) || bytes.HasSuffix(before, []byte("("))
	afterBlank := bytes.HasSuffix(f.Text[:from], []byte("\n\n"))
	if afterBlank && bytes.HasPrefix(bytes.TrimLeft(f.Text[to:], " \t"), []byte("}")) {
		from--
	}
	if bytes.HasPrefix(f.Text[to:], []byte("\n")) && (opens || afterBlank) {
		to++
	}
	f.edits = append(f.edits, textdiff.Edit{From: from, To: to})
}

// startOf returns the position of a declaration or import with its comment.
func startOf(n ast.Node) token.Pos {
	var doc *ast.CommentGroup
	switch n := n.(type) {
	case ast.Decl:
		doc = gosource.Doc(n)
	case *ast.ImportSpec:
		doc = n.Doc
	case *ast.ValueSpec:
		doc = n.Doc
	}
	if doc != nil {
		return doc.Pos()
	}
	return n.Pos()
}

func (f *source) declarationText(decl ast.Decl) string {
	return string(f.Text[f.Offset(startOf(decl)):f.Offset(decl.End())])
}

// note records a note about a position. Lines are those at that step, so steps with notes must come last.
func (f *source) note(at token.Pos, message string) {
	f.notes.Addf(f.at(at), "%s", message)
}

// at returns a position without column.
func (f *source) at(pos token.Pos) diag.Position {
	return diag.Position{File: f.Name, Line: f.Line(pos)}
}

// noteRemoved records a note about removed code.
func (f *source) noteRemoved(message string) {
	f.notes.Addf(diag.Position{File: f.Name}, "%s", message)
}

// importsPath reports whether the file imports a package or one below it.
func (f *source) importsPath(importPath string) bool {
	return slices.ContainsFunc(f.AST.Imports, func(spec *ast.ImportSpec) bool {
		return gosource.ImportPath(spec) == importPath || strings.HasPrefix(gosource.ImportPath(spec), importPath+"/")
	})
}

// nodes yields the nodes of one type in a tree, in the order of the source.
func nodes[N ast.Node](root ast.Node) iter.Seq[N] {
	return func(yield func(N) bool) {
		for n := range ast.Preorder(root) {
			if n, ok := n.(N); ok && !yield(n) {
				return
			}
		}
	}
}

// uses yields the identifiers in a tree that refer to an object of the file.
func uses(root ast.Node, object *ast.Object) iter.Seq[*ast.Ident] {
	return func(yield func(*ast.Ident) bool) {
		for id := range nodes[*ast.Ident](root) {
			if id.Obj != nil && id.Obj == object && !yield(id) {
				return
			}
		}
	}
}

// selections yields the selectors X.name in a tree whose X refers to an object of the file.
func selections(root ast.Node, object *ast.Object) iter.Seq[*ast.SelectorExpr] {
	return func(yield func(*ast.SelectorExpr) bool) {
		for selector := range nodes[*ast.SelectorExpr](root) {
			if id, ok := selector.X.(*ast.Ident); ok && id.Obj != nil && id.Obj == object && !yield(selector) {
				return
			}
		}
	}
}

// pairs yields the elements KEY: VALUE of a literal, with the text of their keys.
func (f *source) pairs(literal *ast.CompositeLit) iter.Seq2[string, *ast.KeyValueExpr] {
	return func(yield func(string, *ast.KeyValueExpr) bool) {
		for _, element := range literal.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok && !yield(f.Source(pair.Key), pair) {
				return
			}
		}
	}
}

// refersTo reports whether an expression refers to one of the names of a package.
func (f *source) refersTo(e ast.Expr, importPath string, names ...string) bool {
	if id, ok := e.(*ast.Ident); ok {
		return f.IsUnresolved(id) && slices.Contains(f.dots, importPath) && slices.Contains(names, id.Name)
	}
	from, name := f.named(e)
	return from == importPath && slices.Contains(names, name)
}

// named returns the package and name of a qualified identifier, or "".
func (f *source) named(e ast.Expr) (importPath, name string) {
	if paren, ok := e.(*ast.ParenExpr); ok {
		e = paren.X
	}
	if selector, ok := e.(*ast.SelectorExpr); ok {
		if id, ok := selector.X.(*ast.Ident); ok && f.IsUnresolved(id) {
			return f.imports[id.Name], selector.Sel.Name
		}
	}
	return "", ""
}

// apply applies the recorded edits and imports and parses the result. Imports that are no longer used are removed. If
// the result does not parse, the file is not changed.
func (f *source) apply() {
	if len(f.edits) == 0 && len(f.added) == 0 {
		return
	}
	old, used, added := f.Text, f.usedImports(), f.added
	f.added = nil
	ok := f.edit()
	f.addImports(added)
	ok = ok && f.edit()
	f.dropUnused(used)
	ok = ok && f.edit()
	if formatted, err := format.Source(f.Text); ok && f.formatted && err == nil {
		ok = f.parse(formatted)
	}
	if !ok {
		f.parse(old)
	}
}

// edit applies the recorded edits. If the result does not parse, the file is not changed.
func (f *source) edit() bool {
	text := textdiff.Apply(f.Text, f.edits)
	f.edits = nil
	return f.parse(text)
}
