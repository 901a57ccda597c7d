package codegen

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/schemapatcher"
)

// Limits of the schemas of a CRD, in all versions. A field is one node, or three if its type has a name. The largest CRDs in
// use have about 12,000 nodes and 3 MiB of YAML.
const (
	maxSchemaNodes = 50_000
	maxSchemaBytes = 16 << 20
)

// flattenSchemas returns the schemas of the versions of a kind without references, and adds them to a size. It returns nil,
// and records an error, if that exceeds a limit.
//
// In a schema with references, fields of the same type share the schema of the type. The steps that follow copy it for each
// field, so that this is the time to measure it.
func flattenSchemas(
	flattener *crd.Flattener, versions []crd.TypeIdent, size *schemaSize,
) []*apiextensionsv1.JSONSchemaProps {
	schemas := make([]*apiextensionsv1.JSONSchemaProps, len(versions))
	for i, version := range versions {
		schemas[i] = flattener.FlattenType(version)
		if problem := size.add(version.Name, schemas[i], 0); problem != "" {
			version.Package.AddError(loader.ErrFromNode(errors.New(problem), flattener.Parser.Types[version].RawSpec))
			return nil
		}
	}
	return schemas
}

// A schemaPatcher is the generator of schemas in manifests, except that it rejects schemas that exceed a limit.
type schemaPatcher struct{ schemapatcher.Generator }

// Generate implements genall.Generator.
func (g schemaPatcher) Generate(ctx *genall.GenerationContext) error {
	types, kinds := crdGenerator{Generator: crd.Generator{GenerateEmbeddedObjectMeta: g.GenerateEmbeddedObjectMeta}}.parse(ctx)
	flattener := &crd.Flattener{Parser: types}
	exceeded := false
	for _, kind := range kinds {
		if flattenSchemas(flattener, versionsOf(types, kind), &schemaSize{maxDescLen: g.MaxDescLen}) == nil {
			exceeded = true
		}
	}
	if exceeded {
		return nil
	}
	err := g.Generator.Generate(ctx)
	// Both have recorded the same errors.
	visit(ctx.Roots, func(p *packages.Package) {
		found := map[packages.Error]bool{}
		p.Errors = slices.DeleteFunc(p.Errors, func(e packages.Error) bool {
			repeated := found[e]
			found[e] = true
			return repeated
		})
	})
	return err
}

// A schemaSize is the size of the schemas of a CRD.
type schemaSize struct {
	maxDescLen   *int
	nodes, bytes int
}

// add adds the node of a schema at a path with all its descendants. It stops at a limit and returns its description.
func (s *schemaSize) add(path string, node *apiextensionsv1.JSONSchemaProps, depth int) string {
	single := *node
	single.Properties, single.AllOf, single.Items, single.AdditionalProperties = nil, nil, nil, nil
	if s.maxDescLen != nil && len(single.Description) > *s.maxDescLen {
		single.Description = single.Description[:*s.maxDescLen]
	}
	const indent, lines = 4, 3 // of a field in YAML
	s.nodes++
	s.bytes += single.Size() + depth*indent*lines
	switch {
	case s.nodes > maxSchemaNodes:
		return fmt.Sprintf("the schema has more than %d nodes; it grows at %s", maxSchemaNodes, path)
	case s.bytes > maxSchemaBytes:
		return fmt.Sprintf("the schema is larger than %d MiB; it grows at %s", maxSchemaBytes>>20, path)
	}
	for i := range node.AllOf { // of the same field
		embedded := node.AllOf[i]
		embedded.Description = ""
		if problem := s.add(path, &embedded, depth); problem != "" {
			return problem
		}
	}
	for _, name := range slices.Sorted(maps.Keys(node.Properties)) {
		property := node.Properties[name]
		s.bytes += len(name)
		if problem := s.add(path+"."+name, &property, depth+1); problem != "" {
			return problem
		}
	}
	if node.Items != nil && node.Items.Schema != nil {
		if problem := s.add(path+"[]", node.Items.Schema, depth+1); problem != "" {
			return problem
		}
	}
	if node.AdditionalProperties != nil && node.AdditionalProperties.Schema != nil {
		return s.add(path+"{}", node.AdditionalProperties.Schema, depth+1)
	}
	return ""
}
