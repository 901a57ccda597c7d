package codegen

import (
	_ "embed"
	"go/ast"
	"go/parser"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	gomodule "golang.org/x/mod/module"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// builtinArchive contains the declarations that the API types of an unedited scaffold refer to, one file per package. Its
// comment is their module, path@version, from which TestBuiltin derives them. Types of the standard library are opaque.
//
//go:embed builtin.txtar
var builtinArchive []byte

// builtinGraph returns the dependencies of locals, by ID, without loading a module, or nil if the types of locals may
// refer to something that is not built in. A package that no type refers to is empty.
//
// The declarations match the module's, so the generated files are the same. Type-checking fails if a type refers
// to a declaration that is left out.
func (g *generation) builtinGraph(locals []*parsedPackage) map[string]*packages.Package {
	archive := txtar.Parse(builtinArchive)
	module, version, _ := strings.Cut(strings.TrimSpace(string(archive.Comment)), "@")
	if !g.requires(module, version) {
		return nil
	}
	byID := map[string]*packages.Package{}
	var link func(importPath string) *packages.Package
	link = func(importPath string) *packages.Package {
		if pkg := byID[importPath]; pkg != nil {
			return pkg
		}
		imports := map[string]*packages.Package{}
		pkg := &packages.Package{ID: importPath, PkgPath: importPath, Name: path.Base(importPath), Imports: imports}
		byID[importPath] = pkg
		i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return path.Dir(f.Name) == importPath })
		if i < 0 {
			return pkg
		}
		file, err := parser.ParseFile(g.syntax.fset, archive.Files[i].Name, archive.Files[i].Data, parseMode)
		if err != nil {
			return pkg // TestBuiltin parses it
		}
		pkg.Name, pkg.Syntax = file.Name.Name, []*ast.File{file}
		for _, spec := range file.Imports {
			target := gosource.ImportPath(spec)
			imports[target] = link(target)
		}
		return pkg
	}
	for _, local := range locals {
		pkg := &packages.Package{PkgPath: local.path, Syntax: local.trees, Imports: map[string]*packages.Package{}}
		for _, target := range local.imports {
			switch {
			case g.syntax.byPath[target] != nil:
			case target == g.project.modules[0].path || strings.HasPrefix(target, g.project.modules[0].path+"/"):
				return nil // the project has no such package
			default:
				pkg.Imports[target] = link(target)
			}
		}
		for _, referred := range references(pkg, func(ast.Node) bool { return true }) {
			if referred.Syntax == nil || !strings.HasPrefix(referred.PkgPath, module+"/") {
				return nil
			}
		}
	}
	return byID
}

// requires reports whether the go command would use a version of a module in the project.
func (g *generation) requires(module, version string) bool {
	if g.env.WorkspaceFiles(g.project.root, g.project.read) != nil || g.env.ReplacesFiles() {
		return false
	}
	wanted := gomodule.Version{Path: module, Version: version}
	file := g.project.goMod(".")
	return file != nil && slices.ContainsFunc(file.Require, func(r *modfile.Require) bool { return r.Mod == wanted }) &&
		!slices.ContainsFunc(file.Replace, func(r *modfile.Replace) bool { return r.Old.Path == module })
}
