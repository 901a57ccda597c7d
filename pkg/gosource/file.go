// Package gosource reads and edits the Go code of a project. A File is one parsed source file: Parse reads it, its
// methods resolve imports and positions, and Apply edits it in place. A Module is all files of a project's main module:
// ReadModule parses them, and Check type-checks them.
package gosource

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/printer"
	"go/scanner"
	"go/token"
	"io"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// A File is a parsed Go source file.
type File struct {
	// Name is the path of the file; positions and errors contain it.
	Name string
	Text []byte
	Fset *token.FileSet
	AST  *ast.File

	// unresolved holds the identifiers that no declaration in the file explains.
	unresolved map[*ast.Ident]bool
	// names holds the local names of imports, and built the result of IsBuilt, once they are computed.
	names map[*ast.ImportSpec]string
	built *bool
}

// Parse parses a source file with its comments. The error is a scanner.ErrorList if the text is not valid Go.
func Parse(name string, text []byte) (*File, error) { return ParseIn(token.NewFileSet(), name, text) }

// ParseIn is Parse with a common set of files for several ones.
func ParseIn(fset *token.FileSet, name string, text []byte) (*File, error) {
	tree, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	f := &File{Name: name, Text: text, Fset: fset, AST: tree, unresolved: make(map[*ast.Ident]bool, len(tree.Unresolved))}
	for _, id := range tree.Unresolved {
		f.unresolved[id] = true
	}
	return f, nil
}

// CheckSyntax returns an error with the first position if a text is not valid Go.
func CheckSyntax(name string, text []byte) error {
	_, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	return FirstError(err)
}

// FirstError returns the first error of a scanner.ErrorList as a diag.Finding, and any other error unchanged.
func FirstError(err error) error {
	if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
		return syntaxFinding(list[0])
	}
	return err
}

func syntaxFinding(e *scanner.Error) diag.Finding {
	return diag.Finding{Position: diag.Position{File: e.Pos.Filename, Line: e.Pos.Line, Column: e.Pos.Column}, Problem: e.Msg}
}

// SyntaxFindings returns the errors of the Go parser for a file with this text. If it contains a merge conflict, only that is
// returned: the other errors follow from it.
func SyntaxFindings(name string, text []byte, err error) diag.Findings {
	if conflicts := textdiff.ConflictFindings(name, text); conflicts != nil {
		return conflicts
	}
	list, ok := errors.AsType[scanner.ErrorList](err)
	if !ok {
		return diag.Findings{{Position: diag.Position{File: name}, Problem: err.Error()}}
	}
	var findings diag.Findings
	for _, e := range list {
		f := syntaxFinding(e)
		f.File = name
		findings = append(findings, f)
	}
	return findings
}

// Dir returns the directory of the file.
func (f *File) Dir() string { return path.Dir(f.Name) }

// IsTest reports whether the file is a test file.
func (f *File) IsTest() bool { return strings.HasSuffix(f.Name, "_test.go") }

// IsExternalTest reports whether the file is a test file of the package with the suffix _test.
func (f *File) IsExternalTest() bool {
	return f.IsTest() && strings.HasSuffix(f.AST.Name.Name, "_test")
}

// IsBuilt reports whether the file is part of a build on the current system.
func (f *File) IsBuilt() bool {
	if f.built == nil {
		context := build.Default
		context.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.Text)), nil }
		ok, err := context.MatchFile(path.Dir(f.Name), path.Base(f.Name))
		ok = ok && err == nil
		f.built = &ok
	}
	return *f.built
}

// IsUnresolved reports whether no declaration in the file explains an identifier: it is predeclared, declared in another
// file of the package, or the name of an import.
func (f *File) IsUnresolved(id *ast.Ident) bool { return f.unresolved[id] }

// Offset returns the offset of a position in the text; line directives do not count.
func (f *File) Offset(pos token.Pos) int { return f.Fset.PositionFor(pos, false).Offset }

// Line returns the line of a position, counted from 1; line directives do not count.
func (f *File) Line(pos token.Pos) int { return f.Fset.PositionFor(pos, false).Line }

// LineStart returns the offset of the start of the line of a position.
func (f *File) LineStart(pos token.Pos) int {
	return bytes.LastIndexByte(f.Text[:f.Offset(pos)], '\n') + 1
}

// LineEnd returns the offset after the line break of the line of a position.
func (f *File) LineEnd(pos token.Pos) int {
	at := f.Offset(pos)
	if n := bytes.IndexByte(f.Text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(f.Text)
}

// Source returns the text of a node.
func (f *File) Source(n ast.Node) string {
	return string(f.Text[f.Offset(n.Pos()):f.Offset(n.End())])
}

// Replace returns the edit that replaces a node by a text.
func (f *File) Replace(n ast.Node, text string) textdiff.Edit {
	return textdiff.Edit{From: f.Offset(n.Pos()), To: f.Offset(n.End()), Text: text}
}

// IsFormatted reports whether gofmt would not change the file.
func (f *File) IsFormatted() bool { return IsFormatted(f.Text) }

// Apply returns the text of the file with edits, formatted if the file is. With an error, which names the file, the
// result is not valid Go; the text then has the edits.
func (f *File) Apply(edits []textdiff.Edit) ([]byte, error) {
	text := textdiff.Apply(f.Text, edits)
	if !f.IsFormatted() {
		return text, nil
	}
	formatted, err := format.Source(text)
	if err != nil {
		return text, fmt.Errorf("%s: %w", f.Name, err)
	}
	return formatted, nil
}

// IsFormatted reports whether gofmt would not change a text.
func IsFormatted(text []byte) bool {
	formatted, err := format.Source(text)
	return err == nil && bytes.Equal(formatted, text)
}

// Print returns a node as source without comments.
func Print(n ast.Node) string {
	var b strings.Builder
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return fmt.Sprintf("%#v", n) // equals no source
	}
	return b.String()
}
