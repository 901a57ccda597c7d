package codegen

import (
	"bytes"
	"go/ast"
	"go/token"
	"strings"
)

// moveMarkers moves the markers for packages among some of a file to above the declaration that they are in or documented with, before its
// comment, from which an empty line separates them. It reports whether there are any. Markers that share their line with code stay.
func (s *syntax) moveMarkers(content []byte, misplaced []*probe) (moved []byte, changed bool) {
	lines := bytes.SplitAfter(content, []byte("\n"))
	line := func(pos token.Pos) int { return s.fset.PositionFor(pos, false).Line - 1 }
	removed, inserted := map[int]bool{}, map[int][]byte{}
	for _, p := range misplaced {
		at, before := line(p.comment.Pos()), p.target()
		if !before.IsValid() || !p.isForPackages() || strings.TrimSpace(string(lines[at])) != strings.TrimSpace(p.original) {
			continue
		}
		removed[at] = true
		inserted[line(before)] = append(inserted[line(before)], bytes.TrimLeft(lines[at], " \t")...)
	}
	if len(removed) == 0 {
		return nil, false
	}
	// What separated a marker from the text above it is of no use at the end of a comment.
	for at := range lines {
		if next := at + 1; isEmptyComment(lines[at]) && !removed[at] && removed[next] {
			for next < len(lines) && removed[next] {
				next++
			}
			removed[at] = next >= len(lines) || !bytes.HasPrefix(bytes.TrimSpace(lines[next]), []byte("//"))
		}
	}
	// Neither is one of two empty lines around it.
	for at := range lines {
		if removed[at] && !removed[at-1] && (at == 0 || isEmpty(lines[at-1])) {
			for removed[at] {
				at++
			}
			removed[at] = at < len(lines) && isEmpty(lines[at])
		}
	}
	var out bytes.Buffer
	for at, text := range lines {
		if block := inserted[at]; block != nil {
			out.Write(block)
			out.WriteString(map[bool]string{true: "\r\n", false: "\n"}[bytes.HasSuffix(block, []byte("\r\n"))])
		}
		if !removed[at] {
			out.Write(text)
		}
	}
	return out.Bytes(), true
}

func isEmptyComment(line []byte) bool { return string(bytes.TrimSpace(line)) == "//" }

func isEmpty(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// target returns the start of the declaration that the marker is in, or whose comment it is in. It is invalid for other markers.
func (p *probe) target() token.Pos {
	for _, declaration := range p.tree.Decls {
		if start := startOf(declaration); start <= p.comment.Pos() && p.comment.Pos() < declaration.End() {
			return start
		}
	}
	return token.NoPos
}

// startOf returns the position of a declaration's comment, or of the declaration without one.
func startOf(declaration ast.Decl) token.Pos {
	var doc *ast.CommentGroup
	switch declaration := declaration.(type) {
	case *ast.FuncDecl:
		doc = declaration.Doc
	case *ast.GenDecl:
		doc = declaration.Doc
	}
	if doc != nil {
		return doc.Pos()
	}
	return declaration.Pos()
}
