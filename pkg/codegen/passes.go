package codegen

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/schemapatcher"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// A pass runs one generator that needs types. Each task has its own pass, because the result depends on which packages the
// type checker has visited for the generator.
type pass struct {
	generator interface {
		genall.Generator
		genall.NeedsTypeChecking
	}
	task  *task
	units []*unit
	roots []*loader.Package
	// refused are the problems for which an API server refuses CRDs.
	refused diag.Findings
	// unsupported are the problems of types.
	unsupported []typeProblem
}

// passes returns the passes that generate units, one for each task.
func (g *generation) passes(units []*unit, loaded []*loader.Package) []*pass {
	var list []*pass
	for _, t := range g.all {
		ofTask := slices.DeleteFunc(slices.Clone(units), func(u *unit) bool { return u.task != t })
		if len(ofTask) == 0 {
			continue
		}
		p := &pass{task: t, units: ofTask, roots: rootsOf(loaded, ofTask)}
		isLocal := func(pkg *loader.Package) bool { return g.syntax.byPath[pkg.PkgPath] != nil }
		switch generator := t.generator.(type) {
		case deepcopy.Generator:
			p.generator = objectGenerator{generator, p.addUnsupported}
		case crd.Generator:
			wanted := func(kind schema.GroupKind) bool {
				return slices.ContainsFunc(ofTask, func(u *unit) bool { return u.group == kind.Group })
			}
			check := func(types *crd.Parser, definition apiextensionsv1.CustomResourceDefinition, versions []crd.TypeIdent) {
				errors, warnings := g.refused(types, definition, versions)
				p.refused = append(p.refused, errors...)
				warnings = append(warnings, g.jsonStrings(types, versions)...)
				for _, u := range ofTask {
					if u.group == definition.Spec.Group {
						u.Warnings = append(u.Warnings, warnings...)
					}
				}
			}
			p.generator = crdGenerator{Generator: generator, wanted: wanted, check: check, isLocal: isLocal, unsupported: p.addUnsupported, store: g.store}
		case schemapatcher.Generator:
			p.generator = schemaPatcher{generator}
		}
		list = append(list, p)
	}
	return list
}

func (p *pass) addUnsupported(problems []typeProblem) {
	p.unsupported = append(p.unsupported, problems...)
}

// run generates the files of the units and returns all problems.
func (p *pass) run(g *generation) (findings diag.Findings) {
	registry := &markers.Registry{}
	if err := p.generator.RegisterMarkers(registry); err != nil {
		return diag.Findings{{Problem: err.Error()}}
	}
	files := map[string][]byte{}
	input := genall.InputRule(headerInput(p.task.header))
	if p.task.kind == schemaPatches {
		input = dirInput(g.project.root)
	}
	for _, u := range p.units {
		u.Warnings = nil // of a run with reduced dependencies
	}
	err := recoverPanic(func() error {
		return p.generator.Generate(&genall.GenerationContext{
			Collector: &markers.Collector{Registry: registry},
			Roots:     p.roots,
			Checker:   &loader.TypeChecker{NodeFilters: []loader.NodeFilter{p.generator.CheckFilter()}},
			InputRule: input,
			OutputRule: &artifacts{files: files, config: p.task.config, code: func(pkg *loader.Package) string {
				return g.syntax.byPath[pkg.PkgPath].dir
			}},
		})
	})
	unsupported := g.positions.findings(p.unsupported)
	if _, ok := errors.AsType[panicError](err); ok && len(unsupported) > 0 {
		return unsupported
	} else if ok {
		for _, root := range p.roots {
			f := diag.Finding{Problem: fmt.Sprintf("%v; a type in this package may be unsupported", err)}
			if f.File = root.PkgPath; g.syntax.byPath[root.PkgPath] != nil {
				f.File = g.syntax.byPath[root.PkgPath].dir
			}
			findings = append(findings, f)
		}
		return findings
	}
	if err != nil {
		findings = append(findings, diag.Finding{Problem: err.Error()})
	}
	var typeErrors diag.Findings
	visit(p.roots, func(pkg *packages.Package) {
		for _, e := range pkg.Errors {
			if e.Kind != packages.TypeError {
				findings = append(findings, g.syntax.locate(g.positions.finding(e.Pos, e.Msg)))
			} else if local := g.syntax.byPath[pkg.PkgPath]; local != nil {
				if f := g.positions.finding(e.Pos, e.Msg); g.syntax.isSourceError(local, pkg, f) {
					typeErrors = append(typeErrors, f)
				}
			}
		}
	})
	// Errors of a generator at the position of a type error follow from it.
	findings = slices.DeleteFunc(findings, func(f diag.Finding) bool {
		return slices.ContainsFunc(typeErrors, func(e diag.Finding) bool { return e.File == f.File && e.Line == f.Line })
	})
	isCertain := slices.ContainsFunc(p.unsupported, func(problem typeProblem) bool { return problem.isCertain })
	if len(unsupported) > 0 && (len(findings) > 0 || isCertain) {
		// What controller-tools reports in other places, such as a type of another module, follows from them.
		findings = slices.DeleteFunc(findings, func(f diag.Finding) bool {
			return g.syntax.isElsewhere(f) || slices.ContainsFunc(unsupported, func(u diag.Finding) bool { return u.File == f.File && u.Line == f.Line })
		})
		findings = append(findings, unsupported...)
	}
	findings = p.explain(findings)
	p.assignFiles(files)
	return append(findings, typeErrors...)
}

// explain returns findings with causes and fixes. Without any, it returns those about CRDs.
func (p *pass) explain(findings diag.Findings) diag.Findings {
	for i, f := range findings {
		findings[i] = explainUnsupported(f)
	}
	if len(findings) > 0 {
		return findings
	}
	return p.refused
}

var (
	// unserved and unstored match messages about all versions of a CRD.
	unserved = lazyregexp.New(`(?s)^CRD for (\w+)(?:\.(\S*))? with version\(s\) .* does not serve any version$`)
	unstored = lazyregexp.New(`^CRD for (\w+)(?:\.(\S*))? has no storage version$`)
)

// locate sets the position of an error that controller-tools reports for a package, and adds a fix to those about a kind.
func (s *syntax) locate(f diag.Finding) diag.Finding {
	kind, group := "", ""
	if m := unserved.FindStringSubmatch(f.Problem); m != nil {
		kind, group = m[1], m[2]
		f.Problem = fmt.Sprintf("kind %s has no served version; remove the marker +kubebuilder:unservedversion from one", kind)
	} else if m := unstored.FindStringSubmatch(f.Problem); m != nil {
		kind, group = m[1], m[2]
		f.Problem = fmt.Sprintf("kind %s has no storage version; add the marker +kubebuilder:storageversion to one", kind)
	}
	if local := s.byPath[f.File]; local != nil && f.Line == 0 {
		f.File = local.dir
	}
	if kind == "" {
		return f
	}
	for _, pkg := range s.packages {
		if pkg.group != group {
			continue
		}
		for i, spec := range typeSpecs(pkg.trees...) {
			if spec.Name.Name == kind {
				at := s.fset.Position(spec.Name.Pos())
				f.File, f.Line, f.Column = pkg.files[i].name, at.Line, at.Column
				return f
			}
		}
	}
	return f
}

// undefined matches the type checker's message about a name that is not declared.
var undefined = lazyregexp.New(`^undefined: (\w+)$`)

// isSourceError reports whether a type error is one in the source, and does not follow from checking it in part: generated
// methods are left out, and so are packages that no relevant type refers to. Errors in type declarations count, unless they
// are about an imported package that was not loaded.
func (s *syntax) isSourceError(local *parsedPackage, pkg *packages.Package, f diag.Finding) bool {
	for i, spec := range typeSpecs(local.trees...) {
		first, last := s.fset.Position(spec.Pos()).Line, s.fset.Position(spec.End()).Line
		if local.files[i].name != f.File || f.Line < first || last < f.Line {
			continue
		}
		m := undefined.FindStringSubmatch(f.Problem)
		if m == nil {
			return true
		}
		imported, _ := importsOf(local.trees[i], func(importPath string) (*packages.Package, string) {
			if imported := pkg.Imports[importPath]; imported != nil {
				return imported, imported.Name
			}
			return nil, "_" // unless the import has a name
		})
		_, ok := imported[m[1]]
		return !ok
	}
	return false
}

// assignFiles assigns the generated files to the units.
func (p *pass) assignFiles(files map[string][]byte) {
	for name, content := range files {
		for _, u := range p.units {
			switch {
			case p.task.kind == Object && path.Dir(name) != u.roots[0].dir:
			case p.task.kind == CRD && !strings.HasPrefix(path.Base(name), u.group+"_"):
			default:
				u.Files[name] = content
			}
		}
	}
}
