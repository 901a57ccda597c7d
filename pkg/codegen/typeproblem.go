package codegen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A place is a field or a type of the project.
type place struct {
	in      *loader.Package
	at      token.Pos
	subject string
	// path leads from there to a type in another place: an instance of a generic type, or a type of another module.
	path string
	// whole is the type of the field, or nil.
	whole types.Type
}

// A typeProblem is the reason why nothing can be generated for the type of a field.
type typeProblem struct {
	place
	problem, fix string
	// isCertain is set if controller-tools would generate code that does not compile, instead of an error.
	isCertain bool
	// isHidden is set for a field that is a problem only if no schema can be generated.
	isHidden bool
}

func (s *schemaTypes) problem(from place, t types.Type, cause, fix string) {
	s.report(from, from.describe(t, cause), fix)
}

// report adds a problem at a place, unless the place has one.
func (s *schemaTypes) report(from place, problem, fix string) {
	if from.in != nil && !slices.ContainsFunc(s.problems, func(known typeProblem) bool { return known.at == from.at }) {
		s.problems = append(s.problems, typeProblem{place: from, problem: problem, fix: fix})
	}
}

// maxTypeText limits the types in messages, which can be very long.
const maxTypeText = 60

// contains returns the beginning of a text about a place and what is in it.
func (p place) contains() string {
	if p.path == "" {
		return p.subject
	}
	return fmt.Sprintf("%s contains %s, which", p.subject, shortened(p.path))
}

// describe returns the text of a problem.
func (p place) describe(t types.Type, cause string) string {
	if p.path == "" && p.whole != nil {
		t = p.whole
	}
	return fmt.Sprintf("%s has type %s: %s", p.contains(), shortened(types.TypeString(t, (*types.Package).Name)), cause)
}

// shortened returns the beginning of a long text.
func shortened(text string) string {
	if len(text) > maxTypeText {
		return text[:maxTypeText] + "…"
	}
	return text
}

const (
	keyFix       = "use string, or a type that is defined as string"
	interfaceFix = "use a type whose content is defined, such as string or metav1.Condition, or apiextensionsv1.JSON for any value"
	removedFix   = "remove the field; or give it the tag `json:\"-\"`, and write +kubebuilder:object:generate=false above its struct and the method DeepCopyInto by hand"
	foreignFix   = "use a type that is made for Kubernetes APIs, such as metav1.Time for time.Time, or declare one"
	arrayFix     = "use a slice, with the markers +kubebuilder:validation:MinItems and MaxItems"
)

// keyCause returns the reason why the keys of a map cannot have a type.
func keyCause(key types.Type) string {
	return "the keys of an object in JSON are strings, not " + types.TypeString(key, (*types.Package).Name)
}

// isTextKey reports whether keys of a type are strings in JSON, as controller-tools sees them.
func isTextKey(key types.Type) bool {
	if obj, _, _ := types.LookupFieldOrMethod(key, true, nil, "MarshalText"); obj != nil {
		return true
	}
	basic, ok := key.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

// schemaCause returns why there is no schema for a type, without the types that it refers to, and a fix.
func schemaCause(t types.Type, allowFloat bool) (cause, fix string) {
	switch typed := t.(type) {
	case *types.Struct:
		return "a struct without a name has no schema", "declare a type with a name for it"
	case *types.Basic:
		if typed.Info()&types.IsFloat != 0 && !allowFloat {
			return "clients in other languages round floating-point numbers differently, so that no schema is generated for them",
				"use an integer, a string or resource.Quantity; or allow them with crd:allowDangerousTypes=true in the call of controller-gen"
		}
	}
	return valueCause(t)
}

// valueCause returns why a type can be part neither of JSON nor of a copy.
func valueCause(t types.Type) (cause, fix string) {
	if alias, ok := t.(*types.Alias); ok {
		if types.IsInterface(alias) {
			t = types.Unalias(alias)
		}
	}
	if types.IsInterface(t) {
		if _, isParam := t.(*types.TypeParam); !isParam {
			return "the content of an interface is not defined, so that it can have neither a schema nor DeepCopy methods", interfaceFix
		}
	}
	switch typed := t.(type) {
	case *types.Signature:
		return "JSON cannot contain a function", removedFix
	case *types.Chan:
		return "JSON cannot contain a channel", removedFix
	case *types.Basic:
		switch {
		case typed.Info()&types.IsComplex != 0:
			return "JSON cannot contain a complex number", "use two fields, or a string"
		case typed.Kind() == types.UnsafePointer:
			return "JSON cannot contain a pointer without a type", removedFix
		}
	}
	return "", ""
}

// findings returns problems as findings, sorted by position.
func (p positions) findings(problems []typeProblem) diag.Findings {
	var findings diag.Findings
	for _, problem := range problems {
		f := p.finding(problem.in.Fset.Position(problem.at).String(), problem.problem)
		f.Rule, f.Fix = unsupportedRule, problem.fix
		findings = append(findings, f)
	}
	return findings.Sort()
}

// recordProblems records problems as errors of their packages.
func recordProblems(problems []typeProblem) {
	for _, problem := range problems {
		problem.in.AddError(loader.ErrFromNode(errors.New(problem.problem+"; "+problem.fix), &ast.BadExpr{From: problem.at}))
	}
}

// isElsewhere reports whether a finding is at no line of a file of the project.
func (s *syntax) isElsewhere(f diag.Finding) bool {
	return f.Line == 0 || !slices.ContainsFunc(s.packages, func(pkg *parsedPackage) bool {
		return slices.ContainsFunc(pkg.files, func(file *sourceFile) bool { return file.name == f.File })
	})
}

// onePerField removes the problems of types at places that have another: no schema and no DeepCopy methods can be generated for the same reason.
func onePerField(findings diag.Findings) diag.Findings {
	seen := map[diag.Position]bool{}
	return slices.DeleteFunc(findings, func(f diag.Finding) bool {
		repeated := f.Rule == unsupportedRule && seen[f.Position]
		seen[f.Position] = seen[f.Position] || f.Rule == unsupportedRule
		return repeated
	})
}
