package upgrade

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// source is a Go file with its text.
type source struct {
	text []byte
	fset *token.FileSet
	file *ast.File
}

func readSource(text []byte) *source {
	s := &source{text: text, fset: token.NewFileSet()}
	file, err := parser.ParseFile(s.fset, "main.go", text, parser.ParseComments)
	if err != nil || file.Name.Name != "main" {
		return nil
	}
	s.file = file
	return s
}

func (s *source) offset(pos token.Pos) int { return s.fset.PositionFor(pos, false).Offset }

// span is the text of a node.
func (s *source) span(n ast.Node) string { return string(s.text[s.offset(n.Pos()):s.offset(n.End())]) }

// lineStart and lineEnd widen a place to the whole lines that it stands in.
func (s *source) lineStart(at int) int { return bytes.LastIndexByte(s.text[:at], '\n') + 1 }

func (s *source) lineEnd(at int) int {
	if n := bytes.IndexByte(s.text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(s.text)
}

// with is the text of the lines of a node, comments right above it included.
func (s *source) with(n ast.Node) (from, to int) {
	from, to = s.lineStart(s.offset(n.Pos())), s.lineEnd(s.offset(n.End()))
	for {
		found := false
		for _, group := range s.file.Comments {
			if s.lineEnd(s.offset(group.End())) == from {
				from, found = s.lineStart(s.offset(group.Pos())), true
			}
		}
		if !found {
			return from, to
		}
	}
}

// function is the declaration of a function without a receiver.
func (s *source) function(name string) *ast.FuncDecl {
	for _, decl := range s.file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == name {
			return f
		}
	}
	return nil
}

// squeezed is a line without its indentation and with one space for many, which gofmt aligns by.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }
