package codegen

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	toolscrd "sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/operon-sdk/operon/pkg/diag"
)

// jsonStrings returns the fields in versions of a kind whose tag has the option string, although their schema is a number or a Boolean
// value: Go encodes them as strings, which an API server refuses, and it cannot decode what the API server accepts.
func (g *generation) jsonStrings(parser *toolscrd.Parser, versions []toolscrd.TypeIdent) (findings diag.Findings) {
	next, seen := slices.Clone(versions), map[toolscrd.TypeIdent]bool{}
	for len(next) > 0 {
		ident := next[0]
		next = next[1:]
		info, definition := parser.Types[ident], parser.Schemata[ident]
		if seen[ident] || info == nil {
			continue
		}
		seen[ident] = true
		refer(&definition, ident.Package, parser, func(to toolscrd.TypeIdent) { next = append(next, to) })
		if g.syntax.byPath[ident.Package.PkgPath] == nil {
			continue
		}
		for _, problem := range nameProblems(ident.Package, info) {
			if !problem.isHidden {
				finding := g.positions.findings([]typeProblem{problem})[0]
				finding.Rule = "json-name"
				findings = append(findings, finding)
			}
		}
		for _, field := range info.Fields {
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !slices.Contains(strings.Split(options, ","), "string") {
				continue
			}
			schema := definition.Properties[name]
			refer(&schema, ident.Package, parser, func(to toolscrd.TypeIdent) { schema = parser.Schemata[to] })
			if !slices.Contains([]string{"integer", "number", "boolean"}, schema.Type) {
				continue
			}
			finding := g.positions.finding(ident.Package.Fset.Position(field.RawField.Pos()).String(), fmt.Sprintf(
				"Go encodes %s as a string because of its JSON tag, but its schema has type %s, so no API server accepts it", field.Name, schema.Type))
			finding.Rule, finding.Fix = "json-string", "remove string from the tag, or write the marker +kubebuilder:validation:Type=string"
			findings = append(findings, finding)
		}
	}
	return findings
}

// refer calls found with the types that a schema refers to.
func refer(schema *apiextensionsv1.JSONSchemaProps, in *loader.Package, parser *toolscrd.Parser, found func(toolscrd.TypeIdent)) {
	toolscrd.EditSchema(schema, schemaReferences{in, parser, found})
}

// schemaReferences visits the references of a schema.
type schemaReferences struct {
	in     *loader.Package
	parser *toolscrd.Parser
	found  func(toolscrd.TypeIdent)
}

// Visit implements crd.SchemaVisitor.
func (r schemaReferences) Visit(node *apiextensionsv1.JSONSchemaProps) toolscrd.SchemaVisitor {
	if node == nil || node.Ref == nil {
		return r
	}
	name, pkgPath, err := toolscrd.RefParts(*node.Ref)
	if err != nil {
		return r
	}
	for ident := range r.parser.Schemata {
		if ident.Name == name && (pkgPath == "" && ident.Package == r.in || pkgPath != "" && loader.NonVendorPath(ident.Package.PkgPath) == pkgPath) {
			r.found(ident)
		}
	}
	return r
}
