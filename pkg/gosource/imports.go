package gosource

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// ParseImports parses the package clause and the imports of a file only.
func ParseImports(name string, text []byte) (*File, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, text, parser.ImportsOnly|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &File{Name: name, Text: text, Fset: fset, AST: tree}, nil
}

// ImportPath returns the path of an import.
func ImportPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// ImportSource returns the source of an import without comments: its name, if it has one, and its quoted path.
func ImportSource(spec *ast.ImportSpec) string {
	if spec.Name == nil {
		return spec.Path.Value
	}
	return spec.Name.Name + " " + spec.Path.Value
}

// IsStandard reports whether an import path looks like a package of the standard library.
func IsStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// ImportName returns the name by which the file refers to an import: its explicit name, "_" and "." included, or the name
// that the package has. As the package is not read, this is the first of its likely names that the file uses as a
// qualifier, or else PackageName.
func (f *File) ImportName(spec *ast.ImportSpec) string {
	if f.names == nil {
		f.resolveImports()
	}
	return f.names[spec]
}

func (f *File) resolveImports() {
	f.names = map[*ast.ImportSpec]string{}
	free := f.UsedQualifiers(f.AST)
	var unnamed []*ast.ImportSpec
	for _, spec := range f.AST.Imports {
		if spec.Name == nil {
			unnamed = append(unnamed, spec)
			continue
		}
		f.names[spec] = spec.Name.Name
		delete(free, spec.Name.Name)
	}
	for len(unnamed) > 0 {
		// An import with a single possible name comes before one that has the name among others.
		next, options := 0, []string(nil)
		for i, spec := range unnamed {
			names := slices.DeleteFunc(packageNames(ImportPath(spec)), func(name string) bool { return !free[name] })
			if i == 0 || len(names) == 1 {
				next, options = i, names
			}
			if len(names) == 1 {
				break
			}
		}
		spec := unnamed[next]
		f.names[spec] = PackageName(ImportPath(spec))
		if len(options) > 0 {
			f.names[spec] = options[0]
			delete(free, options[0])
		}
		unnamed = slices.Delete(unnamed, next, next+1)
	}
}

// UsedQualifiers returns the names before the dot of qualified identifiers in a node of the file that no declaration of
// the file explains.
func (f *File) UsedQualifiers(n ast.Node) map[string]bool {
	used := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := selector.X.(*ast.Ident); ok && f.unresolved[id] {
				used[id.Name] = true
			}
		}
		return true
	})
	return used
}

// PackageName returns the most likely name of the package with an import path.
func PackageName(importPath string) string {
	names := packageNames(importPath)
	if at := slices.IndexFunc(names, token.IsIdentifier); at >= 0 {
		return names[at]
	}
	return names[0]
}

var majorVersion = lazyregexp.New(`^v[0-9]+$`)

// packageNames returns names that the package with an import path may have, the most likely first.
func packageNames(importPath string) []string {
	base := path.Base(importPath)
	if dir := path.Dir(importPath); majorVersion.MatchString(base) && dir != "." {
		if base == "v0" || base == "v1" { // no suffix of a module
			return append([]string{base}, packageNames(dir)...)
		}
		return append(packageNames(dir), base)
	}
	names := []string{base}
	base, _, _ = strings.Cut(base, ".") // gopkg.in/yaml.v3
	names = append(names, base, strings.TrimPrefix(base, "go-"), strings.TrimSuffix(base, "-go"), strings.ReplaceAll(base, "-", ""),
		strings.ReplaceAll(base, "-", "_"))
	if i := strings.LastIndexByte(base, '-'); i >= 0 {
		names = append(names, base[i+1:])
	}
	return unique(names)
}

// unique drops repeated names.
func unique(names []string) []string {
	var out []string
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// CanImport reports whether the rule for internal packages allows an import.
func CanImport(importer, target string) bool {
	elements := strings.Split(target, "/")
	for i := len(elements) - 1; i >= 0; i-- {
		if elements[i] == "internal" {
			parent := strings.Join(elements[:i], "/")
			return parent != "" && (importer == parent || strings.HasPrefix(importer, parent+"/"))
		}
	}
	return true
}
