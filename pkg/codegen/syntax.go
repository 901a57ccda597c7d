package codegen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
)

// A syntax is the syntax of packages of the project, without types.
type syntax struct {
	fset      *token.FileSet
	collector *markers.Collector
	packages  []*parsedPackage
	byPath    map[string]*parsedPackage
}

// A parsedPackage is a package with its syntax trees.
type parsedPackage struct {
	*sourcePackage
	trees []*ast.File // of files
	// view is the package for generators that read only markers. It has no imports and no types.
	view *loader.Package

	imports []string // import paths, of all files
	// group is the API group of the package.
	group string
	// copies reports whether a type may have deepcopy methods, and kinds whether a type may be a kind.
	copies, kinds bool
}

// parseMode is the mode in which the Go parser reads files.
const parseMode = parser.AllErrors | parser.ParseComments | parser.SkipObjectResolution

// parsePackages parses packages and their markers.
func (p *project) parsePackages(registry *markers.Registry, packages []*sourcePackage) (*syntax, error) {
	collector := &markers.Collector{Registry: registry}
	s := &syntax{fset: token.NewFileSet(), collector: collector, byPath: map[string]*parsedPackage{}}
	for _, source := range packages {
		if p.byPath[source.path] != source {
			continue // the loader, too, uses only the first of two packages with the same path
		}
		pkg := &parsedPackage{sourcePackage: source}
		s.packages = append(s.packages, pkg)
		s.byPath[source.path] = pkg
	}
	found := make([]diag.Findings, len(s.packages))
	parallel(len(s.packages), func(i int) { found[i] = s.packages[i].parse(s.fset, p.context.CgoEnabled) })
	findings := slices.Concat(found...)
	if err := findings.Sort().Err(); err != nil {
		return nil, err
	}
	report := func(at token.Pos, message string) { findings = append(findings, s.at(at, message)) }
	sources := make([]source, len(s.packages))
	for i, pkg := range s.packages {
		sources[i] = source{pkg.path, pkg.trees, report}
	}
	checkLimits(registry, sources)
	if err := findings.Sort().Err(); err != nil {
		return nil, err
	}
	for _, pkg := range s.packages {
		if _, err := s.collector.MarkersInPackage(pkg.view); err != nil {
			findings = append(findings, s.markerFindings(pkg, err)...)
			continue
		}
		values, err := markers.PackageMarkers(s.collector, pkg.view)
		if err == nil && values.Get("kubebuilder:skip") == nil {
			pkg.group, _ = values.Get("groupName").(string)
			pkg.kinds = declaresKind(pkg.trees)
		}
	}
	return s, findings.Sort().Err()
}

// parse parses the files, and sets the fields that depend only on them.
func (pkg *parsedPackage) parse(fset *token.FileSet, cgo bool) diag.Findings {
	var findings diag.Findings
	files := pkg.files
	pkg.sourcePackage = &sourcePackage{module: pkg.module, dir: pkg.dir, path: pkg.path}
	for _, file := range files {
		tree, err := parser.ParseFile(fset, file.name, file.content, parseMode)
		if err != nil {
			findings = append(findings, gosource.SyntaxFindings(file.name, file.content, err)...)
			continue
		}
		if tree.Name.Name == "documentation" || !cgo && importsC(tree) {
			continue // the go command leaves these out
		}
		if len(pkg.trees) > 0 && pkg.trees[0].Name.Name != tree.Name.Name {
			findings = append(findings, findingAt(fset.PositionFor(tree.Name.Pos(), false), fmt.Sprintf(
				"package %s in the directory of package %s; a directory can contain only one package",
				tree.Name.Name, pkg.trees[0].Name.Name)))
			continue
		}
		pkg.files, pkg.trees = append(pkg.files, file), append(pkg.trees, tree)
		text := string(file.content)
		pkg.copies = pkg.copies || strings.Contains(text, "+kubebuilder:object:") || strings.Contains(text, "+k8s:deepcopy-gen")
		for _, spec := range tree.Imports {
			if target := gosource.ImportPath(spec); !slices.Contains(pkg.imports, target) {
				pkg.imports = append(pkg.imports, target)
			}
		}
	}
	raw := &packages.Package{ID: pkg.path, PkgPath: pkg.path, Syntax: pkg.trees, Fset: fset}
	if raw.Syntax == nil {
		raw.Syntax = []*ast.File{}
	} else {
		raw.Name = pkg.trees[0].Name.Name
	}
	pkg.view = &loader.Package{Package: raw}
	return findings
}

// importsC reports whether a file uses cgo.
func importsC(tree *ast.File) bool {
	return slices.ContainsFunc(tree.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == `"C"` })
}

// declaresKind reports whether a struct embeds types named TypeMeta and ObjectMeta, by which the generator of CRDs
// recognizes kinds, whatever their markers.
func declaresKind(trees []*ast.File) bool {
	for _, spec := range typeSpecs(trees...) {
		if structure, ok := spec.Type.(*ast.StructType); ok && embeds(structure, "TypeMeta") && embeds(structure, "ObjectMeta") {
			return true
		}
	}
	return false
}

// embeds reports whether a struct embeds a type with a name, of any package.
func embeds(structure *ast.StructType, name string) bool {
	return slices.ContainsFunc(structure.Fields.List, func(field *ast.Field) bool {
		selector, ok := field.Type.(*ast.SelectorExpr)
		return field.Names == nil && (ok && selector.Sel.Name == name || gosource.IsIdent(field.Type, name))
	})
}
