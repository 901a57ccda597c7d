package gocode

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// An apiPackage is a package of API types.
type apiPackage struct {
	// dir is its directory, target the current directory of its webhooks, path its import path.
	dir, target, path string
	// files are its Go files without tests, tests the test files of the same package, outer the files of the external test
	// package.
	files, tests, outer []*source
	// names maps files and offsets of identifiers to their objects.
	names    map[string]map[int]named
	webhooks []*webhook
}

// named is the object of an identifier.
type named struct {
	object types.Object
	// file and offset are the place of the declaration; empty for other packages.
	file   string
	offset int
	// global reports whether it is declared at package level, member whether it is a field or method.
	global, member bool
}

// read finds the files of the package in the program.
func (pkg *apiPackage) read(p *program) {
	name := ""
	for _, f := range p.files {
		if f.Dir() == pkg.dir && !f.IsTest() {
			name = f.AST.Name.Name
		}
	}
	for _, f := range p.files {
		switch {
		case f.Dir() != pkg.dir:
		case !f.IsTest():
			pkg.files = append(pkg.files, f)
		case f.AST.Name.Name == name:
			pkg.tests = append(pkg.tests, f)
		default:
			pkg.outer = append(pkg.outer, f)
		}
	}
	pkg.resolve()
}

// resolve determines the objects of identifiers. Types of other packages are unknown, which does not affect
// declarations of this one.
func (pkg *apiPackage) resolve() {
	pkg.names = map[string]map[int]named{}
	fset := token.NewFileSet()
	var files []*gosource.File
	for _, f := range slices.Concat(pkg.files, pkg.tests) {
		if parsed, err := gosource.ParseIn(fset, f.Name, f.Text); err == nil {
			files = append(files, parsed)
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	checked, _ := gosource.CheckWithoutImports(pkg.path, files, info) // errors follow from the missing imports
	for id, object := range info.Uses {
		at := fset.PositionFor(id.Pos(), false)
		if pkg.names[at.Filename] == nil {
			pkg.names[at.Filename] = map[int]named{}
		}
		n := named{object: object}
		if _, imported := object.(*types.PkgName); object.Pkg() == checked && checked != nil && !imported {
			declared := fset.PositionFor(object.Pos(), false)
			n.file, n.offset = declared.Filename, declared.Offset
			n.global = object.Parent() == checked.Scope()
			n.member = object.Parent() == nil
		}
		pkg.names[at.Filename][at.Offset] = n
	}
}

// of returns the object of an identifier in a file.
func (pkg *apiPackage) of(f *source, id *ast.Ident) named {
	return pkg.names[f.Name][f.Offset(id.Pos())]
}

// methods calls do for each method of a type.
func (pkg *apiPackage) methods(kind string, do func(f *source, decl *ast.FuncDecl)) {
	for _, f := range pkg.files {
		for _, decl := range f.AST.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && gosource.Receiver(function) == kind {
				do(f, function)
			}
		}
	}
}

func (pkg *apiPackage) hasMethod(kind, name string) bool {
	found := false
	pkg.methods(kind, func(_ *source, decl *ast.FuncDecl) { found = found || decl.Name.Name == name })
	return found
}

// objectOf returns the type of &T{}, new(T), (*T)(nil) and T{}, or nil.
func objectOf(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return objectOf(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return objectOf(e.X)
		}
	case *ast.CompositeLit:
		return e.Type
	case *ast.CallExpr:
		if id, ok := e.Fun.(*ast.Ident); ok && id.Name == "new" && len(e.Args) == 1 {
			return e.Args[0]
		}
		if paren, ok := e.Fun.(*ast.ParenExpr); ok && len(e.Args) == 1 {
			if star, ok := paren.X.(*ast.StarExpr); ok {
				return star.X
			}
		}
	}
	return nil
}
