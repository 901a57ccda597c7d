package codegen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// provide gives packages their syntax before the loader parses it: those of the project from the overlay,
// and, where reduced, their dependencies as declarations only. It follows references between types as the
// loader's type checker will; what it misses the loader reads by itself. It returns what exceeds a limit.
func (g *generation) provide(roots []*loader.Package, filter loader.NodeFilter, reduced bool) Findings {
	seen := map[*packages.Package]bool{}
	var level []*packages.Package
	for _, root := range roots {
		level, seen[root.Package] = append(level, root.Package), true
	}
	var sources []source
	var findings Findings
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for len(level) > 0 {
		found := make([][]*packages.Package, len(level))
		var wait sync.WaitGroup
		for i, one := range level {
			wait.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				if !g.syntaxOf(one) && reduced {
					g.declarationsOf(one)
				}
				found[i] = references(one, filter)
			})
		}
		wait.Wait()
		for _, one := range level {
			sources = append(sources, source{one.PkgPath, one.Syntax, func(at token.Pos, message string) {
				findings = append(findings, g.places.finding(g.syntax.fset.Position(at).String(), message))
			}})
		}
		level = nil
		for _, list := range found {
			for _, one := range list {
				if !seen[one] {
					level, seen[one] = append(level, one), true
				}
			}
		}
	}
	checkLimits(g.syntax.collector.Registry, sources)
	return findings
}

// syntaxOf gives a package of the project its syntax trees and reports whether it is one.
func (g *generation) syntaxOf(one *packages.Package) bool {
	local := g.syntax.byPath[one.PkgPath]
	if one.Syntax != nil || local == nil || len(local.files) != len(one.CompiledGoFiles) {
		return one.Syntax != nil
	}
	trees := make([]*ast.File, len(local.files))
	for i, name := range one.CompiledGoFiles {
		for j, file := range local.files {
			if g.project.abs(file.name) == name {
				trees[i] = local.trees[j]
			}
		}
		if trees[i] == nil {
			return false
		}
	}
	one.Syntax = trees
	return true
}

// declarationsOf gives a dependency the syntax of its declarations, from the store if they are there.
func (g *generation) declarationsOf(one *packages.Package) {
	var identity, sources [][]byte
	for _, name := range one.CompiledGoFiles {
		identity = append(identity, []byte(name))
	}
	if !g.immutable(one.CompiledGoFiles) {
		var ok bool
		if sources, ok = readAll(one.CompiledGoFiles); !ok {
			return
		}
		identity = append(identity, sources...)
	}
	key := digestOf(append(identity, []byte("declarations"), []byte(format), g.toolchain)...)
	texts, ok := g.store.get("declarations", key)
	if !ok || len(texts) != len(one.CompiledGoFiles) {
		if sources == nil {
			if sources, ok = readAll(one.CompiledGoFiles); !ok {
				return
			}
		}
		var err error
		if texts, err = declarations(sources); err != nil {
			return
		}
		g.store.put("declarations", key, texts)
	}
	trees := make([]*ast.File, len(texts))
	for i, text := range texts {
		tree, err := parser.ParseFile(g.syntax.fset, one.CompiledGoFiles[i], text, parser.AllErrors|parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return
		}
		trees[i] = tree
	}
	one.Syntax = trees
}

// readAll reads files, which must all be there.
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

// immutable reports whether the names of files tell their content: those of a version of a module in the
// module cache do, and those of the Go installation for a given version of it.
func (g *generation) immutable(names []string) bool {
	for _, name := range names {
		inCache := slices.ContainsFunc(g.caches, func(dir string) bool {
			rest, ok := strings.CutPrefix(name, dir)
			return ok && strings.Contains(rest, "@v")
		})
		if !inCache && !(g.goroot != "" && strings.HasPrefix(name, g.goroot)) {
			return false
		}
	}
	return len(names) > 0
}

// references lists the packages that the types of a package refer to, by the rules of the loader's type checker.
func references(one *packages.Package, filter loader.NodeFilter) []*packages.Package {
	var list []*packages.Package
	for _, tree := range one.Syntax {
		byName := map[string]*packages.Package{}
		for _, spec := range tree.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil || one.Imports[target] == nil {
				continue
			}
			imported := one.Imports[target]
			switch {
			case spec.Name == nil:
				byName[imported.Name] = imported
			case spec.Name.Name == ".":
				list = append(list, imported)
			default:
				byName[spec.Name.Name] = imported
			}
		}
		for _, decl := range tree.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				ast.Inspect(spec.(*ast.TypeSpec).Type, func(n ast.Node) bool {
					if n == nil || !filter(n) {
						return false
					}
					if sel, ok := n.(*ast.SelectorExpr); ok {
						if id, ok := sel.X.(*ast.Ident); ok {
							if imported := byName[id.Name]; imported != nil {
								list = append(list, imported)
							}
						}
					}
					return true
				})
			}
		}
	}
	return list
}
