package codegen

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/schemapatcher"
)

// pass runs one generator that needs types. Each task has a pass of its own, since what a generator sees of a type depends on
// which packages the checker visits for it.
type pass struct {
	generator interface {
		genall.Generator
		genall.NeedsTypeChecking
	}
	task  *task
	units []*unit
	roots []*loader.Package
}

// passes are those that units call for, one for each task.
func (g *generation) passes(units []*unit, loaded []*loader.Package) []*pass {
	var list []*pass
	for _, t := range g.all {
		of := slices.DeleteFunc(slices.Clone(units), func(u *unit) bool { return u.task != t })
		if len(of) == 0 {
			continue
		}
		p := &pass{task: t, units: of, roots: rootsOf(loaded, of)}
		switch generator := t.generator.(type) {
		case deepcopy.Generator:
			p.generator = generator
		case crd.Generator:
			wanted := func(kind schema.GroupKind) bool {
				return slices.ContainsFunc(of, func(u *unit) bool { return u.group == kind.Group })
			}
			p.generator = crdGenerator{Generator: generator, wanted: wanted, store: g.store}
		case schemapatcher.Generator:
			p.generator = schemaPatcher{generator}
		}
		list = append(list, p)
	}
	return list
}

// run generates, and returns all that is wrong.
func (p *pass) run(g *generation) (findings Findings) {
	defer func() {
		if cause := recover(); cause != nil {
			var names []string
			for _, root := range p.roots {
				names = append(names, root.PkgPath)
			}
			findings = append(findings, Finding{Message: fmt.Sprintf("controller-tools gave up on %s: %v; some type there is probably of a shape that it does not expect", strings.Join(names, ", "), cause)})
		}
	}()
	registry := &markers.Registry{}
	if err := p.generator.RegisterMarkers(registry); err != nil {
		return Findings{{Message: err.Error()}}
	}
	files := map[string][]byte{}
	err := p.generator.Generate(&genall.GenerationContext{
		Collector: &markers.Collector{Registry: registry},
		Roots:     p.roots,
		Checker:   &loader.TypeChecker{NodeFilters: []loader.NodeFilter{p.generator.CheckFilter()}},
		InputRule: p.input(g),
		OutputRule: &artifacts{files: files, config: p.task.config, code: func(of *loader.Package) string {
			return g.syntax.byPath[of.PkgPath].dir
		}},
	})
	if err != nil {
		findings = append(findings, Finding{Message: err.Error()})
	}
	var mistyped Findings
	visit(p.roots, func(one *packages.Package) {
		for _, e := range one.Errors {
			if e.Kind != packages.TypeError {
				findings = append(findings, g.syntax.locate(g.places.ofPackage(e)))
			} else if local := g.syntax.byPath[one.PkgPath]; local != nil {
				if f := g.places.ofPackage(e); g.syntax.genuine(local, one, f) {
					mistyped = append(mistyped, f)
				}
			}
		}
	})
	// What a generator says about a line that has no type follows from what the type checker said.
	findings = slices.DeleteFunc(findings, func(f Finding) bool {
		return slices.ContainsFunc(mistyped, func(m Finding) bool { return m.File == f.File && m.Line == f.Line })
	})
	g.take(files, p.units)
	return append(findings, mistyped...)
}

var (
	// unserved and unstored find the kind in messages about all versions of a CRD.
	unserved = regexp.MustCompile(`(?s)^CRD for (\w+)(?:\.(\S*))? with version\(s\) .* does not serve any version$`)
	unstored = regexp.MustCompile(`^CRD for (\w+)(?:\.(\S*))? has no storage version$`)
)

// locate finds the place of an error that controller-tools gives to a package as a whole, and says what to
// do about those that are about a kind.
func (s *syntax) locate(f Finding) Finding {
	kind, group := "", ""
	if m := unserved.FindStringSubmatch(f.Message); m != nil {
		kind, group = m[1], m[2]
		f.Message = fmt.Sprintf("no version of kind %s is served: remove the marker +kubebuilder:unservedversion from one", kind)
	} else if m := unstored.FindStringSubmatch(f.Message); m != nil {
		kind, group = m[1], m[2]
		f.Message = fmt.Sprintf("no version of kind %s is the one to store: write the marker +kubebuilder:storageversion above the type of one", kind)
	}
	if local := s.byPath[f.File]; local != nil && f.Line == 0 {
		f.File = local.dir
	}
	if kind == "" {
		return f
	}
	for _, one := range s.packages {
		if one.group != group {
			continue
		}
		for i, tree := range one.trees {
			for _, decl := range tree.Decls {
				gen, ok := decl.(*ast.GenDecl)
				if !ok || gen.Tok != token.TYPE {
					continue
				}
				for _, spec := range gen.Specs {
					if name := spec.(*ast.TypeSpec).Name; name.Name == kind {
						at := s.fset.Position(name.Pos())
						f.File, f.Line, f.Column = one.files[i].name, at.Line, at.Column
						return f
					}
				}
			}
		}
	}
	return f
}

// undefined finds the name in the type checker's message about one that is not declared.
var undefined = regexp.MustCompile(`^undefined: (\w+)$`)

// genuine tells an error in the source from one that comes of checking in part: generated methods are left
// out, and so are packages that no type of interest refers to. Errors in type declarations count, unless
// they are about an imported package that was not loaded.
func (s *syntax) genuine(local *parsed, one *packages.Package, f Finding) bool {
	for i, tree := range local.trees {
		if local.files[i].name != f.File {
			continue
		}
		if m := undefined.FindStringSubmatch(f.Message); m != nil && importsAs(tree, one, m[1]) {
			return false
		}
		for _, decl := range tree.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.TYPE &&
				s.fset.Position(gen.Pos()).Line <= f.Line && f.Line <= s.fset.Position(gen.End()).Line {
				return true
			}
		}
	}
	return false
}

// importsAs reports whether a file knows an imported package by a name.
func importsAs(tree *ast.File, one *packages.Package, name string) bool {
	for _, spec := range tree.Imports {
		if spec.Name != nil {
			if spec.Name.Name == name {
				return true
			}
			continue
		}
		if imported := one.Imports[strings.Trim(spec.Path.Value, "`\"")]; imported != nil && imported.Name == name {
			return true
		}
	}
	return false
}

// input returns where the generator reads files from.
func (p *pass) input(g *generation) genall.InputRule {
	if p.task.kind == schemaPatches {
		return filesBelow(g.project.root)
	}
	return oneFile(p.task.header)
}

// oneFile is the header of generated files, under whatever name.
type oneFile []byte

// OpenForRead implements genall.InputRule.
func (f oneFile) OpenForRead(string) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(f)), nil
}
