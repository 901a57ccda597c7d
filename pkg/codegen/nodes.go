package codegen

import (
	"go/ast"
	"go/token"
	"iter"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// typeSpecs yields the type declarations of files, with the indexes of the files.
func typeSpecs(trees ...*ast.File) iter.Seq2[int, *ast.TypeSpec] {
	return func(yield func(int, *ast.TypeSpec) bool) {
		for i, tree := range trees {
			for _, decl := range tree.Decls {
				gen, ok := decl.(*ast.GenDecl)
				if !ok || gen.Tok != token.TYPE {
					continue
				}
				for _, spec := range gen.Specs {
					if !yield(i, spec.(*ast.TypeSpec)) {
						return
					}
				}
			}
		}
	}
}

// markersOf yields the markers in comments: the position of the plus sign and the text from it.
func markersOf(groups ...*ast.CommentGroup) iter.Seq2[token.Pos, string] {
	return func(yield func(token.Pos, string) bool) {
		for _, group := range groups {
			if group == nil {
				continue
			}
			for _, comment := range group.List {
				body, ok := strings.CutPrefix(comment.Text, "//")
				text := strings.TrimSpace(body)
				if ok && strings.HasPrefix(text, "+") && !yield(comment.Pos()+token.Pos(strings.IndexByte(comment.Text, '+')), text) {
					return
				}
			}
		}
	}
}

// markersIn yields the markers in files, as markersOf does.
func markersIn(trees ...*ast.File) iter.Seq2[token.Pos, string] {
	return func(yield func(token.Pos, string) bool) {
		for _, tree := range trees {
			for pos, text := range markersOf(tree.Comments...) {
				if !yield(pos, text) {
					return
				}
			}
		}
	}
}

// importsOf returns the packages that a file imports, by their names in the file, and those whose name is a dot. find
// returns the package with an import path and its name; a package without a name is left out.
func importsOf[P any](tree *ast.File, find func(importPath string) (pkg P, name string)) (named map[string]P, dots []P) {
	named = map[string]P{}
	for _, spec := range tree.Imports {
		pkg, name := find(gosource.ImportPath(spec))
		switch {
		case name == "":
		case spec.Name == nil:
			named[name] = pkg
		case spec.Name.Name == ".":
			dots = append(dots, pkg)
		default:
			named[spec.Name.Name] = pkg
		}
	}
	return named, dots
}

// A scope contains the declarations that the names of types in a file refer to.
type scope[D any] struct {
	local    map[string]*D            // of the package
	imported map[string]map[string]*D // by the name of the package in the file
	dots     []map[string]*D          // of imports with the name "."
}

// newScope returns the scope of a file. find returns the declarations of an imported package and its name, or no name.
func newScope[D any](tree *ast.File, local map[string]*D, find func(importPath string) (map[string]*D, string)) scope[D] {
	imported, dots := importsOf(tree, find)
	return scope[D]{local: local, imported: imported, dots: dots}
}

// find returns the declaration that a type expression names, or nil.
func (s scope[D]) find(expr ast.Expr) *D {
	switch e := expr.(type) {
	case *ast.Ident:
		for _, declared := range append([]map[string]*D{s.local}, s.dots...) {
			if d := declared[e.Name]; d != nil {
				return d
			}
		}
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok {
			return s.imported[id.Name][e.Sel.Name]
		}
	}
	return nil
}
