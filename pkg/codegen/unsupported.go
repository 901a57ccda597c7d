package codegen

import (
	"bytes"
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Messages of controller-tools about types that it does not support, which name neither the cause nor a fix.
var (
	unsupportedSyntax = regexp.MustCompile(`^unsupported AST kind \*ast\.(\w+)$`)
	unsupportedAlias  = regexp.MustCompile(`^unsupported type \*types\.(Map|Slice|Array|Pointer|Struct) for identifier (\w+)$`)
	untagged          = regexp.MustCompile(`^encountered struct field "(\w*)" without JSON tag in type "(\w+)"$`)
	uncopied          = regexp.MustCompile(`^invalid (?:field|slice element|map (?:key|value)) type: (.*)$`)
	array             = regexp.MustCompile(`^\[\d+\]`)
	// ofParameter matches messages about parameters of types, which have no position.
	ofParameter = regexp.MustCompile(`^(invalid .*type: |name requested for invalid type: )`)
)

const (
	// genericFix lets DeepCopy methods and schemas work without controller-gen's support of generic types.
	genericFix = "declare a type without parameters for each use; or write +kubebuilder:object:generate=false above the generic type and its method DeepCopyInto by hand, " +
		"and +kubebuilder:validation:Schemaless and +kubebuilder:pruning:PreserveUnknownFields above its fields in kinds"
	unsupportedRule = "unsupported-type"
)

// explainUnsupported replaces a message of controller-tools about a type that it does not support.
func explainUnsupported(f diag.Finding) diag.Finding {
	problem, fix := "", ""
	if m := unsupportedSyntax.FindStringSubmatch(f.Problem); m != nil {
		switch m[1] {
		case "IndexExpr", "IndexListExpr":
			problem, fix = "no schema can be generated for a generic type", genericFix
		case "FuncType", "ChanType":
			problem, fix = "no schema can be generated for a function or channel, which JSON cannot contain", "remove the field, or exclude it with the tag `json:\"-\"` and +kubebuilder:object:generate=false above its type"
		}
	} else if m := unsupportedAlias.FindStringSubmatch(f.Problem); m != nil {
		problem = fmt.Sprintf("no schema can be generated for %s, an alias of a %s", m[2], strings.ToLower(m[1]))
		fix = fmt.Sprintf("declare a type instead of an alias: remove the equals sign in type %s =", m[2])
	} else if m := untagged.FindStringSubmatch(f.Problem); m != nil && m[1] == "" {
		problem = fmt.Sprintf("the struct that is embedded in %s has no JSON tag", m[2])
		fix = "write `json:\",inline\"` behind it, so that its fields become fields of " + m[2]
	} else if m != nil {
		problem = fmt.Sprintf("field %s of %s has no JSON tag", m[1], m[2])
		fix = fmt.Sprintf("write `json:\"%s\"` behind it, or `json:\"-\"` to leave it out", strings.ToLower(m[1][:1])+m[1][1:])
	} else if m := uncopied.FindStringSubmatch(f.Problem); m != nil && f.Line > 0 {
		problem = "DeepCopy methods cannot be generated for a value of type " + m[1]
		fix = "use another type, such as apiextensionsv1.JSON for any value, or write +kubebuilder:object:generate=false above the struct and its method DeepCopyInto by hand"
		if array.MatchString(m[1]) {
			fix = "use a slice, with the markers +kubebuilder:validation:MinItems and MaxItems"
		}
	}
	if problem == "" {
		return f
	}
	f.Problem, f.Fix, f.Rule = problem, fix, unsupportedRule
	return f
}

// generics replaces messages about the parameters of generic types by one for each such type.
func (s *syntax) generics(roots []*loader.Package, findings diag.Findings) diag.Findings {
	if !slices.ContainsFunc(findings, func(f diag.Finding) bool { return ofParameter.MatchString(f.Problem) }) {
		return findings
	}
	for _, root := range roots {
		local := s.byPath[root.PkgPath]
		if local == nil {
			continue
		}
		for i, spec := range typeSpecs(local.trees...) {
			if spec.TypeParams == nil {
				continue
			}
			at, end := s.fset.Position(spec.Name.Pos()), s.fset.Position(spec.End())
			follows := func(f diag.Finding) bool {
				inType := f.File == local.files[i].name && at.Line <= f.Line && f.Line <= end.Line
				return ofParameter.MatchString(f.Problem) && (inType || f.Line == 0 && f.File == local.dir)
			}
			if !slices.ContainsFunc(findings, follows) {
				continue
			}
			findings = slices.DeleteFunc(findings, func(f diag.Finding) bool { return f.Line > 0 && follows(f) })
			finding := findingAt(at, fmt.Sprintf("DeepCopy methods cannot be generated for the generic type %s", spec.Name.Name))
			finding.Rule, finding.Fix = unsupportedRule, genericFix
			findings = append(findings, finding)
		}
	}
	// Those of all generic types in a package have no position.
	return slices.DeleteFunc(findings, func(f diag.Finding) bool {
		return f.Line == 0 && ofParameter.MatchString(f.Problem) && slices.ContainsFunc(findings, func(other diag.Finding) bool {
			return other.Fix == genericFix && strings.HasPrefix(other.File, f.File+"/")
		})
	})
}

// structAliases returns the fields whose type is an alias of a struct without a name, although DeepCopy methods were generated for their
// struct: these call a method that cannot exist.
func (s *syntax) structAliases(roots []*loader.Package, generated map[string][]byte) (findings diag.Findings) {
	for _, root := range roots {
		local := s.byPath[root.PkgPath]
		if local == nil {
			continue
		}
		aliases := map[string]bool{}
		for _, spec := range typeSpecs(local.trees...) {
			if _, ok := spec.Type.(*ast.StructType); ok && spec.Assign.IsValid() {
				aliases[spec.Name.Name] = true
			}
		}
		for _, spec := range typeSpecs(local.trees...) {
			structure, ok := spec.Type.(*ast.StructType)
			method := []byte("(in *" + spec.Name.Name + ") DeepCopyInto(")
			if !ok || len(aliases) == 0 || !slices.ContainsFunc(slices.Collect(maps.Values(generated)), func(code []byte) bool { return bytes.Contains(code, method) }) {
				continue
			}
			for _, field := range structure.Fields.List {
				for node := range ast.Preorder(field.Type) {
					if id, ok := node.(*ast.Ident); ok && aliases[id.Name] {
						finding := s.at(id.Pos(), fmt.Sprintf("%s is an alias of a struct without a name, which can have no DeepCopy methods", id.Name))
						finding.Rule, finding.Fix = unsupportedRule, fmt.Sprintf("declare a type instead of an alias: remove the equals sign in type %s =", id.Name)
						findings = append(findings, finding)
					}
				}
			}
		}
	}
	return findings
}
