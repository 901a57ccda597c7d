package codegen

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// Messages of controller-tools about types, which name neither the cause nor a fix. Most problems of types are found before it reads them.
var (
	unsupportedSyntax = lazyregexp.New(`^unsupported AST kind \*ast\.Index(?:List)?Expr$`)
	untagged          = lazyregexp.New(`^encountered struct field "(\w*)" without JSON tag in type "([^"]+)"$`)
	uncopied          = lazyregexp.New(`^invalid (?:field|slice element|map (?:key|value)) type: (.*)$`)
)

const unsupportedRule = "unsupported-type"

// explainUnsupported replaces a message of controller-tools about a type that it does not support.
func explainUnsupported(f diag.Finding) diag.Finding {
	problem, fix := "", ""
	if unsupportedSyntax.MatchString(f.Problem) {
		problem, fix = "schemapatch supports no generic types", "use the generator crd, or declare a type without parameters for each use"
	} else if m := untagged.FindStringSubmatch(f.Problem); m != nil && m[1] == "" {
		problem = fmt.Sprintf("the struct that is embedded in %s has no JSON tag", m[2])
		fix = "write `json:\",inline\"` behind it, so that its fields become fields of " + m[2]
	} else if m != nil {
		problem = fmt.Sprintf("field %s of %s has no JSON tag", m[1], m[2])
		fix = fmt.Sprintf("write `json:\"%s\"` behind it, or `json:\"-\"` to leave it out", strings.ToLower(m[1][:1])+m[1][1:])
	} else if m := uncopied.FindStringSubmatch(f.Problem); m != nil && f.Line > 0 {
		problem = "DeepCopy methods cannot be generated for a value of type " + m[1]
		fix = "use another type, such as apiextensionsv1.JSON for any value, or write +kubebuilder:object:generate=false above the struct and its method DeepCopyInto by hand"
	}
	if problem == "" {
		return f
	}
	f.Problem, f.Fix, f.Rule = problem, fix, unsupportedRule
	return f
}

// instances returns the places where the types of a package refer to instances of generic types, which apply configurations do not support.
func (s *syntax) instances(pkg *parsedPackage) (findings diag.Findings) {
	for _, spec := range typeSpecs(pkg.trees...) {
		ast.Inspect(spec.Type, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.IndexExpr, *ast.IndexListExpr:
				f := s.at(n.Pos(), "apply configurations cannot be generated for an instance of a generic type")
				f.Rule, f.Fix = unsupportedRule, "declare a type without parameters for it, or remove the marker +"+applyMarker
				findings = append(findings, f)
				return false
			}
			return true
		})
	}
	return findings.Sort()
}
