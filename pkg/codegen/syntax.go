package codegen

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// syntax is what can be known of the project's packages without types.
type syntax struct {
	fset      *token.FileSet
	collector *markers.Collector
	packages  []*parsed
	byPath    map[string]*parsed
}

// parsed is a package with its syntax trees. The loader's package around them serves generators that
// read markers only; it knows no imports and no types.
type parsed struct {
	*pkg
	trees []*ast.File // beside files
	view  *loader.Package

	imports []string // import paths, of all files
	// group is the API group that the package names, and copies whether some type may get copy methods.
	group  string
	copies bool
	// kinds tells that a type looks like an object of Kubernetes.
	kinds bool
}

// parsePackages reads the syntax and the markers of some packages.
func (p *project) parsePackages(registry *markers.Registry, sources []*pkg) (*syntax, error) {
	s := &syntax{fset: token.NewFileSet(), collector: &markers.Collector{Registry: registry}, byPath: map[string]*parsed{}}
	var findings Findings
	var mu sync.Mutex
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, source := range sources {
		if p.byPath[source.path] != source {
			continue // the loader, too, takes only the first of two packages with one path
		}
		one := &parsed{pkg: source}
		s.packages = append(s.packages, one)
		s.byPath[source.path] = one
		wait.Add(1)
		go func() {
			defer wait.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			found := one.parse(s.fset, p.context.CgoEnabled)
			mu.Lock()
			defer mu.Unlock()
			findings = append(findings, found...)
		}()
	}
	wait.Wait()
	if err := findings.err(); err != nil {
		return nil, err
	}
	limited := make([]source, len(s.packages))
	for i, one := range s.packages {
		limited[i] = source{one.path, one.trees, func(at token.Pos, message string) { findings = append(findings, s.at(at, message)) }}
	}
	checkLimits(registry, limited)
	if err := findings.err(); err != nil {
		return nil, err
	}
	for _, one := range s.packages {
		if _, err := s.collector.MarkersInPackage(one.view); err != nil {
			findings = append(findings, s.markerFindings(one, err)...)
			continue
		}
		values, err := markers.PackageMarkers(s.collector, one.view)
		if err == nil && values.Get("kubebuilder:skip") == nil {
			one.group, _ = values.Get("groupName").(string)
			one.kinds = declaresKind(one.trees)
		}
	}
	return s, findings.err()
}

// parse fills in what the text of the files tells.
func (one *parsed) parse(fset *token.FileSet, cgo bool) Findings {
	var findings Findings
	files := one.files
	one.pkg = &pkg{module: one.module, dir: one.dir, path: one.path}
	seen := map[string]bool{}
	for _, file := range files {
		tree, err := parser.ParseFile(fset, file.name, file.content, parser.AllErrors|parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			findings = append(findings, SyntaxFindings(file.name, file.content, err)...)
			continue
		}
		if tree.Name.Name == "documentation" || !cgo && importsC(tree) {
			continue // the go command leaves these out
		}
		if len(one.trees) > 0 && one.trees[0].Name.Name != tree.Name.Name {
			at := fset.Position(tree.Name.Pos())
			findings = append(findings, Finding{File: file.name, Line: at.Line, Column: at.Column,
				Message: "package " + tree.Name.Name + " in a folder of package " + one.trees[0].Name.Name + ": a folder holds one package"})
			continue
		}
		one.files, one.trees = append(one.files, file), append(one.trees, tree)
		text := string(file.content)
		one.copies = one.copies || strings.Contains(text, "+kubebuilder:object:") || strings.Contains(text, "+k8s:deepcopy-gen")
		for _, spec := range tree.Imports {
			if target, err := strconv.Unquote(spec.Path.Value); err == nil && !seen[target] {
				seen[target], one.imports = true, append(one.imports, target)
			}
		}
	}
	raw := &packages.Package{ID: one.path, PkgPath: one.path, Syntax: one.trees, Fset: fset}
	if raw.Syntax == nil {
		raw.Syntax = []*ast.File{}
	} else {
		raw.Name = one.trees[0].Name.Name
	}
	one.view = &loader.Package{Package: raw}
	return findings
}

func importsC(tree *ast.File) bool {
	for _, spec := range tree.Imports {
		if spec.Path.Value == `"C"` {
			return true
		}
	}
	return false
}

// conflictFindings reports the merge conflicts in a file with this content.
func conflictFindings(name string, content []byte) Findings {
	conflicts := textdiff.Conflicts(content)
	if len(conflicts) == 0 {
		return nil
	}
	return Findings{{File: name, Line: conflicts[0].First, Message: textdiff.ConflictProblem(conflicts)}}
}

// SyntaxFindings returns the errors of the Go parser for a file with this content. If it holds a merge conflict, it returns that
// alone: the others follow from it.
func SyntaxFindings(name string, content []byte, err error) Findings {
	if findings := conflictFindings(name, content); len(findings) > 0 {
		return findings
	}
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return Findings{{File: name, Message: err.Error()}}
	}
	var findings Findings
	for _, e := range list {
		findings = append(findings, Finding{File: name, Line: e.Pos.Line, Column: e.Pos.Column, Message: e.Msg})
	}
	return findings
}

// declaresKind reports whether a struct embeds something called TypeMeta and something called ObjectMeta,
// which is how the generator of CRDs finds its kinds, whatever their markers.
func declaresKind(trees []*ast.File) bool {
	for _, tree := range trees {
		for _, decl := range tree.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				if st, ok := spec.(*ast.TypeSpec).Type.(*ast.StructType); ok && embeds(st, "TypeMeta") && embeds(st, "ObjectMeta") {
					return true
				}
			}
		}
	}
	return false
}

func embeds(st *ast.StructType, name string) bool {
	for _, field := range st.Fields.List {
		if field.Names != nil {
			continue
		}
		switch t := field.Type.(type) {
		case *ast.Ident:
			if t.Name == name {
				return true
			}
		case *ast.SelectorExpr:
			if t.Sel.Name == name {
				return true
			}
		}
	}
	return false
}
