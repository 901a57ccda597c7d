package codegen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	toolscrd "sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/operon-sdk/operon/pkg/crd"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// refused returns the problems for which an API server refuses a CRD, at the fields of the types in the project. What is wrong in the types of
// other modules is a warning, because a patch of the CRD has to correct it.
func (g *generation) refused(parser *toolscrd.Parser, definition apiextensionsv1.CustomResourceDefinition, versions []toolscrd.TypeIdent) (errors, warnings diag.Findings) {
	errors = g.storedTwice(parser, definition, versions)
	complete := crd.Complete(&definition)
	if complete == nil {
		return errors, nil
	}
	type cause struct {
		at         diag.Position
		rest, text string
	}
	seen := map[cause]bool{} // many fields can have the same type
	for _, problem := range crd.Problems(complete) {
		names, rest := schemaPath(problem.Field)
		version := versions[0]
		for _, ident := range versions {
			for i, v := range definition.Spec.Versions {
				if parser.GroupVersions[ident.Package].Version == v.Name && strings.HasPrefix(problem.Field, fmt.Sprintf("spec.versions[%d]", i)) {
					version = ident
				}
			}
		}
		in, node, whole := g.fieldAt(parser, version, names)
		text := strings.Join(slices.DeleteFunc([]string{strings.Join(names, "."), rest, problem.Text}, func(s string) bool { return s == "" }), ": ")
		finding := g.positions.finding(in.Fset.Position(node).String(), "an API server refuses the CRD: "+text)
		if c := (cause{finding.Position, rest, problem.Text}); whole && seen[c] {
			continue
		} else {
			seen[c] = true
		}
		finding.Rule, finding.Fix = "invalid-schema", "correct the type or its markers"
		if whole {
			errors = append(errors, finding)
			continue
		}
		finding.Fix = "the type comes from another module: correct the CRD with a patch in config/crd/kustomization.yaml"
		warnings = append(warnings, finding)
	}
	return errors, warnings
}

// storedTwice returns a finding at the newest of several storage versions: there must be one.
func (g *generation) storedTwice(parser *toolscrd.Parser, definition apiextensionsv1.CustomResourceDefinition, versions []toolscrd.TypeIdent) diag.Findings {
	var stored []string
	for _, v := range definition.Spec.Versions {
		if v.Storage {
			stored = append(stored, v.Name)
		}
	}
	if len(stored) < 2 {
		return nil
	}
	for _, ident := range versions {
		if parser.GroupVersions[ident.Package].Version != stored[len(stored)-1] {
			continue
		}
		in, node, _ := g.fieldAt(parser, ident, nil)
		f := g.positions.finding(in.Fset.Position(node).String(), fmt.Sprintf("kind %s has %d storage versions: %s", ident.Name, len(stored), strings.Join(stored, ", ")))
		f.Rule, f.Fix = "storage-versions", "keep the marker +kubebuilder:storageversion in one"
		return diag.Findings{f}
	}
	return nil
}

var (
	// inVersion matches the beginning of a path that is the same for all fields, and property a step to a field.
	inVersion = lazyregexp.New(`^spec\.versions\[\d+\]\.(schema\.openAPIV3Schema\.?)?`)
	property  = lazyregexp.New(`\bproperties\[([^\]]*)\]\.?`)
)

// schemaPath splits the path of a problem into the JSON names of fields and the part of their schema.
func schemaPath(field string) (names []string, rest string) {
	rest = inVersion.ReplaceAllString(field, "")
	for _, match := range property.FindAllStringSubmatch(rest, -1) {
		names = append(names, match[1])
	}
	if steps := property.FindAllStringIndex(rest, -1); len(steps) > 0 {
		rest = rest[steps[len(steps)-1][1]:]
	}
	return names, rest
}

// fieldAt follows JSON names from the type of a version. It returns the last field that is declared in the project, or the type, and whether
// that is the end of the path.
func (g *generation) fieldAt(parser *toolscrd.Parser, ident toolscrd.TypeIdent, names []string) (in *loader.Package, at token.Pos, whole bool) {
	byName := map[string]toolscrd.TypeIdent{}
	for known := range parser.Types {
		byName[known.Package.PkgPath+"."+known.Name] = known
	}
	in, at = ident.Package, parser.Types[ident].RawSpec.Pos()
	for _, name := range names {
		owner, field := jsonField(parser, byName, ident, name, 0)
		if field == nil || g.syntax.byPath[owner.Package.PkgPath] == nil {
			return in, at, false
		}
		in, at = owner.Package, field.Pos()
		next := structOf(owner.Package.TypesInfo.TypeOf(field.Type))
		if next == nil {
			ident = toolscrd.TypeIdent{}
			continue
		}
		ident = byName[next.Pkg().Path()+"."+next.Name()]
	}
	return in, at, true
}

// jsonField returns the field of a struct with a JSON name, also of a struct that is embedded in it, and the type that declares it.
func jsonField(parser *toolscrd.Parser, byName map[string]toolscrd.TypeIdent, ident toolscrd.TypeIdent, name string, depth int) (toolscrd.TypeIdent, *ast.Field) {
	info := parser.Types[ident]
	if info == nil || depth > 100 {
		return ident, nil
	}
	for _, field := range info.Fields {
		tagged, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tagged == name || tagged == "" && field.Name == name {
			return ident, field.RawField
		}
	}
	for _, field := range info.Fields {
		tagged, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tagged != "" || field.Name != "" && !strings.Contains(field.Tag.Get("json"), ",inline") {
			continue
		}
		if embedded := structOf(ident.Package.TypesInfo.TypeOf(field.RawField.Type)); embedded != nil {
			if owner, found := jsonField(parser, byName, byName[embedded.Pkg().Path()+"."+embedded.Name()], name, depth+1); found != nil {
				return owner, found
			}
		}
	}
	return ident, nil
}

// structOf returns the name of the struct that a type is, or has as elements, or nil.
func structOf(t types.Type) *types.TypeName {
	for range maxTypeDepth { // a list can be one of itself
		switch typed := types.Unalias(t).(type) {
		case *types.Pointer:
			t = typed.Elem()
		case *types.Slice:
			t = typed.Elem()
		case *types.Array:
			t = typed.Elem()
		case *types.Map:
			t = typed.Elem()
		case *types.Named:
			if _, ok := typed.Underlying().(*types.Struct); ok {
				if typed.Obj().Pkg() == nil {
					return nil
				}
				return typed.Obj()
			}
			t = typed.Underlying()
		default:
			return nil
		}
	}
	return nil
}
