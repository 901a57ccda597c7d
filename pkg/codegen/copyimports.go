package codegen

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"unicode"

	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// copyImports are the imports of a file of DeepCopy methods, named as controller-tools does.
type copyImports struct {
	pkg    *loader.Package
	byPath map[string]string
	paths  []string
}

// newCopyImports returns imports that start with the imports of a file.
func newCopyImports(pkg *loader.Package, specs []*ast.ImportSpec) *copyImports {
	imports := &copyImports{pkg: pkg, byPath: map[string]string{}}
	for _, spec := range specs {
		importPath := gosource.ImportPath(spec)
		name := ""
		if spec.Name != nil {
			name = spec.Name.Name
		} else if imported := pkg.Imports()[importPath]; imported != nil {
			name = imported.Name
		}
		imports.add(importPath, name)
	}
	return imports
}

func (i *copyImports) add(importPath, name string) string {
	i.byPath[importPath] = name
	i.paths = append(i.paths, importPath)
	return name
}

// name returns the name of a package, which it imports if necessary: the last elements of its path that are not used otherwise.
func (i *copyImports) name(importPath string) string {
	if name := i.byPath[importPath]; name != "" {
		return name
	}
	name, rest := "", importPath
	for name == "" || i.isUsed(name) {
		last := strings.TrimLeftFunc(path.Base(rest), unicode.IsDigit)
		if rest == "" || rest == "." {
			last = "x"
		}
		name = strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
				return r
			}
			return '_'
		}, last) + name
		rest = path.Dir(rest)
	}
	return i.add(importPath, name)
}

func (i *copyImports) isUsed(name string) bool {
	if name == i.pkg.Name {
		return true
	}
	return slices.ContainsFunc(i.paths, func(used string) bool { return i.byPath[used] == name })
}

// specs returns the imports as source.
func (i *copyImports) specs() []string {
	var lines []string
	for _, importPath := range i.paths {
		if imported := i.pkg.Imports()[importPath]; imported != nil && imported.Name == i.byPath[importPath] {
			lines = append(lines, fmt.Sprintf("%q", importPath))
		} else {
			lines = append(lines, fmt.Sprintf("%s %q", i.byPath[importPath], importPath))
		}
	}
	return lines
}
