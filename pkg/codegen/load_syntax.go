package codegen

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/filecache"
)

// provideSyntax sets the syntax of packages, so that the loader does not parse them: the project's from the overlay,
// and, if reduced, their dependencies' as declarations. It follows the references between types as the loader's type
// checker does; the loader parses packages that it misses. It returns the source that exceeds a limit.
func (g *generation) provideSyntax(roots []*loader.Package, filter loader.NodeFilter, reduced bool) diag.Findings {
	level := rawPackages(roots)
	visited := map[*packages.Package]bool{}
	for _, root := range level {
		visited[root] = true
	}
	var sources []source
	var findings diag.Findings
	for len(level) > 0 {
		found := make([][]*packages.Package, len(level))
		parallel(len(level), func(i int) {
			if !g.setSyntax(level[i]) && reduced {
				g.setDeclarations(level[i])
			}
			found[i] = references(level[i], filter)
		})
		for _, pkg := range level {
			sources = append(sources, source{pkg.PkgPath, pkg.Syntax, func(at token.Pos, message string) {
				findings = append(findings, g.positions.finding(g.syntax.fset.Position(at).String(), message))
			}})
		}
		level = nil
		for _, pkg := range slices.Concat(found...) {
			if !visited[pkg] {
				level, visited[pkg] = append(level, pkg), true
			}
		}
	}
	checkLimits(g.syntax.collector.Registry, sources)
	return findings
}

// parallel calls a function for each number below n, on all processors.
func parallel(n int, each func(i int)) {
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			each(i)
		})
	}
	wait.Wait()
}

// setSyntax sets the syntax of a package of the project. It reports whether the package has syntax then.
func (g *generation) setSyntax(pkg *packages.Package) bool {
	local := g.syntax.byPath[pkg.PkgPath]
	if pkg.Syntax != nil || local == nil || len(local.files) != len(pkg.CompiledGoFiles) {
		return pkg.Syntax != nil
	}
	trees := make([]*ast.File, len(local.files))
	for i, name := range pkg.CompiledGoFiles {
		for j, file := range local.files {
			if g.project.abs(file.name) == name {
				trees[i] = local.trees[j]
			}
		}
		if trees[i] == nil {
			return false
		}
	}
	pkg.Syntax = trees
	return true
}

// setDeclarations sets the syntax of a dependency to its declarations, from the store if it contains them.
func (g *generation) setDeclarations(pkg *packages.Package) {
	var identity, sources [][]byte
	for _, name := range pkg.CompiledGoFiles {
		identity = append(identity, []byte(name))
	}
	if !g.immutable(pkg.CompiledGoFiles) {
		var ok bool
		if sources, ok = readAll(pkg.CompiledGoFiles); !ok {
			return
		}
		identity = append(identity, sources...)
	}
	key := filecache.DigestOf(append(identity, []byte("declarations"), []byte(format), g.toolchain)...)
	var texts [][]byte
	if !g.store.Get("declarations", key, &texts) {
		var ok bool
		if sources == nil {
			if sources, ok = readAll(pkg.CompiledGoFiles); !ok {
				return
			}
		}
		var err error
		if texts, err = declarations(sources); err != nil {
			return
		}
		g.store.Put("declarations", key, texts)
	}
	trees := make([]*ast.File, len(texts))
	for i, text := range texts {
		tree, err := parser.ParseFile(g.syntax.fset, pkg.CompiledGoFiles[i], text, parseMode)
		if err != nil {
			return
		}
		trees[i] = tree
	}
	pkg.Syntax = trees
}

// readAll reads files. It reports false if one cannot be read.
func readAll(names []string) ([][]byte, bool) {
	contents := make([][]byte, len(names))
	for i, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, false
		}
		contents[i] = data
	}
	return contents, true
}

// references returns the packages that the types of a package refer to, by the rules of the loader's type checker.
func references(pkg *packages.Package, filter loader.NodeFilter) []*packages.Package {
	var list []*packages.Package
	for _, tree := range pkg.Syntax {
		named, dots := importsOf(tree, func(importPath string) (*packages.Package, string) {
			if imported := pkg.Imports[importPath]; imported != nil {
				return imported, cmp.Or(imported.Name, "_")
			}
			return nil, ""
		})
		list = append(list, dots...)
		for _, spec := range typeSpecs(tree) {
			ast.Inspect(spec.Type, func(n ast.Node) bool {
				if n == nil || !filter(n) {
					return false
				}
				if selector, ok := n.(*ast.SelectorExpr); ok {
					if id, ok := selector.X.(*ast.Ident); ok && named[id.Name] != nil {
						list = append(list, named[id.Name])
					}
				}
				return true
			})
		}
	}
	return list
}
