package codegen

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// declarations reduces the Go files of a package to what schemas and copy methods are made from: type and
// constant declarations with their comments, the signatures of methods, and whatever those mention.
// Function bodies, functions, variables and comments that say nothing to a generator are left out, which
// is nine tenths of a package like k8s.io/apimachinery/pkg/apis/meta/v1.
//
// What is kept reads the same as before: a declaration is dropped together with all that stands between
// it and the one before, and only where that holds no marker, so that every remaining marker and comment
// stays with the declaration it belongs to.
func declarations(sources [][]byte) ([][]byte, error) {
	fset := token.NewFileSet()
	files := make([]*ast.File, len(sources))
	for i, src := range sources {
		file, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files[i] = file
	}
	needed := mentioned(files)
	reduced := make([][]byte, len(sources))
	for i, file := range files {
		c := &cutter{src: sources[i], base: fset.File(file.Package).Base(), comments: file.Comments}
		reduced[i] = c.reduce(file, needed)
	}
	return reduced, nil
}

// cutter finds its way in the text of one file.
type cutter struct {
	src      []byte
	base     int
	comments []*ast.CommentGroup
}

// reduce writes what remains of a file.
func (c *cutter) reduce(file *ast.File, needed map[string]bool) []byte {
	var out bytes.Buffer
	clause := c.lineEnd(c.behindSemicolon(c.offset(file.Name.End())))
	if c.marked(0, clause) {
		out.Write(c.src[:clause])
	} else {
		out.WriteString("package " + file.Name.Name)
	}
	last := clause
	for _, decl := range file.Decls {
		from, start, end := last, c.offset(decl.Pos()), c.offset(decl.End())
		last = c.lineEnd(c.behindSemicolon(end))
		out.WriteString("\n")
		switch d := decl.(type) {
		case *ast.GenDecl:
			if d.Tok == token.TYPE || c.marked(from, last) {
				out.Write(c.src[from:last])
			} else if d.Tok == token.IMPORT || d.Tok == token.CONST || declares(d, needed) {
				out.Write(c.src[start:end])
			}
		case *ast.FuncDecl:
			head := end
			if d.Body != nil {
				head = c.offset(d.Body.Lbrace)
			}
			if c.marked(from, head) || c.marked(end, last) {
				out.Write(c.src[from:head])
				out.WriteString("{}")
				out.Write(c.src[end:last])
			} else if d.Recv != nil || needed[d.Name.Name] {
				out.Write(c.src[c.offset(d.Type.Func):head])
			}
		}
		out.WriteString("\n")
	}
	if c.marked(last, len(c.src)) {
		out.Write(c.src[last:])
	}
	out.WriteString("\n")
	return out.Bytes()
}

// behindSemicolon is the offset behind the semicolon that ends a declaration, if one is written.
func (c *cutter) behindSemicolon(offset int) int {
	rest := bytes.TrimLeft(c.src[offset:], " \t\r")
	if len(rest) > 0 && rest[0] == ';' {
		return len(c.src) - len(rest) + 1
	}
	return offset
}

func (c *cutter) offset(p token.Pos) int { return int(p) - c.base }

// lineEnd is the end of the last comment that begins on the line of offset, or offset.
func (c *cutter) lineEnd(offset int) int {
	eol := len(c.src)
	if i := bytes.IndexByte(c.src[offset:], '\n'); i >= 0 {
		eol = offset + i
	}
	for _, group := range c.comments {
		for _, comment := range group.List {
			if p := c.offset(comment.Pos()); p >= offset && p < eol {
				offset = c.offset(comment.End())
			}
		}
	}
	return offset
}

// marked reports whether a marker or a build constraint stands between two offsets.
func (c *cutter) marked(from, to int) bool {
	for _, group := range c.comments {
		if c.offset(group.End()) <= from {
			continue
		}
		if c.offset(group.Pos()) >= to {
			return false
		}
		for _, comment := range group.List {
			if p := c.offset(comment.Pos()); p >= from && p < to && saysSomething(comment.Text) {
				return true
			}
		}
	}
	return false
}

// saysSomething reports whether a comment is read by a generator or by the type checker.
func saysSomething(comment string) bool {
	text, isLine := strings.CutPrefix(comment, "//")
	return isLine && (strings.HasPrefix(strings.TrimSpace(text), "+") || strings.HasPrefix(text, "go:build"))
}

// mentioned collects every name that the types and constants of a package mention, and every name that
// the variables and functions so mentioned mention in turn.
func mentioned(files []*ast.File) map[string]bool {
	var decls []ast.Decl
	for _, file := range files {
		decls = append(decls, file.Decls...)
	}
	names := map[string]bool{}
	collect := func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names[id.Name] = true
		}
		return true
	}
	for _, decl := range decls {
		if d, ok := decl.(*ast.GenDecl); ok && (d.Tok == token.TYPE || d.Tok == token.CONST) {
			ast.Inspect(d, collect)
		}
	}
	for before := -1; before != len(names); {
		before = len(names)
		for _, decl := range decls {
			switch d := decl.(type) {
			case *ast.GenDecl:
				if d.Tok == token.VAR && declares(d, names) {
					ast.Inspect(d, collect)
				}
			case *ast.FuncDecl:
				if d.Recv == nil && names[d.Name.Name] {
					ast.Inspect(d.Type, collect)
				}
			}
		}
	}
	return names
}

// declares reports whether a variable declaration declares one of the names.
func declares(d *ast.GenDecl, names map[string]bool) bool {
	for _, spec := range d.Specs {
		if v, ok := spec.(*ast.ValueSpec); ok {
			for _, id := range v.Names {
				if names[id.Name] {
					return true
				}
			}
		}
	}
	return false
}
