package typecheck

import (
	"bytes"
	"go/ast"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// checkBodies finds functions without a body in a package of the module that nothing but Go files can implement.
func (c *checker) checkBodies(path string, files []*ast.File) {
	dir, _ := c.module.DirOf(strings.TrimSuffix(path, externalSuffix))
	if c.libraries.cgo[c.module][dir] != nil || slices.ContainsFunc(files, usesCgo) {
		return
	}
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body != nil || isLinked(f, fn.Name.Name) {
				continue
			}
			if c.hasOtherSources(dir) {
				return
			}
			at := c.module.Fset.Position(fn.Name.Pos())
			c.found = append(c.found, diag.Finding{Position: diag.Position{File: at.Filename, Line: at.Line, Column: at.Column}, Problem: "missing function body"})
		}
	}
}

// isLinked reports whether a go:linkname directive of a file gives a name to a function.
func isLinked(f *ast.File, name string) bool {
	for _, group := range f.Comments {
		for _, comment := range group.List {
			if words := strings.Fields(comment.Text); len(words) > 1 && words[0] == "//go:linkname" && words[1] == name {
				return imports(f, "unsafe")
			}
		}
	}
	return false
}

// hasOtherSources reports whether a directory has files of assembly, C or a language like it that are part of a build.
func (c *checker) hasOtherSources(dir string) bool {
	c.readsTree = true
	names, err := c.libraries.tree.Walk(dir, func(string) bool { return true })
	if err != nil {
		return true // reading the file reports the reason
	}
	return slices.ContainsFunc(names, func(name string) bool {
		switch path.Ext(name) {
		case ".c", ".cc", ".cpp", ".cxx", ".m", ".f", ".F", ".for", ".f90", ".s", ".S", ".sx", ".swig", ".swigcxx", ".syso":
		default:
			return false
		}
		context := c.libraries.system.build
		context.OpenFile = func(string) (io.ReadCloser, error) {
			text, err := c.libraries.tree.ReadFile(name)
			return io.NopCloser(bytes.NewReader(text)), err
		}
		ok, err := context.MatchFile(path.Dir(name), path.Base(name))
		return ok || err != nil
	})
}
