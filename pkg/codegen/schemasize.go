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

// Limits of the schemas of a CRD, in all versions. A field is one node, or three if its type has a name. The largest CRDs in use
// have about 12,000 nodes and 3 MiB of YAML.
const (
	maxSchemaNodes = 50_000
	maxSchemaBytes = 16 << 20
)

// flattenSchema returns the schema of a version of a kind without references, and adds its size to that of the CRD. It returns
// nil, and records an error, if that exceeds a limit.
//
// In the schema, fields of the same type share the schema of the type. Only the steps that follow copy it for each field, so
// that this is when to measure it.
func flattenSchema(flattener *crd.Flattener, version crd.TypeIdent, size *schemaSize) *apiextensionsv1.JSONSchemaProps {
	flat := flattener.FlattenType(version)
	if problem := size.add(version.Name, flat, 0); problem != "" {
		version.Package.AddError(loader.ErrFromNode(errors.New(problem), flattener.Parser.Types[version].RawSpec))
		return nil
	}
	return flat
}

// schemaPatcher is the generator of schemas for manifests, except that it refuses schemas that exceed a limit.
type schemaPatcher struct{ schemapatcher.Generator }

// Generate implements genall.Generator.
func (g schemaPatcher) Generate(ctx *genall.GenerationContext) error {
	types, kinds := crdGenerator{Generator: crd.Generator{GenerateEmbeddedObjectMeta: g.GenerateEmbeddedObjectMeta}}.parse(ctx)
	flattener := &crd.Flattener{Parser: types}
	within := true
	for _, kind := range kinds {
		size := &schemaSize{maxDescLen: g.MaxDescLen}
		for _, version := range versionsOf(types, kind) {
			if flattenSchema(flattener, version, size) == nil {
				within = false
				break
			}
		}
	}
	if !within {
		return nil
	}
	err := g.Generator.Generate(ctx)
	// Both have recorded the same errors.
	visit(ctx.Roots, func(p *packages.Package) {
		seen := map[packages.Error]bool{}
		p.Errors = slices.DeleteFunc(p.Errors, func(e packages.Error) bool {
			again := seen[e]
			seen[e] = true
			return again
		})
	})
	return err
}

// schemaSize is the size of the schemas of a CRD.
type schemaSize struct {
	maxDescLen   *int
	nodes, bytes int
}

// add adds the node of a schema at a path, and all below it. It stops at a limit and returns a description of it.
func (s *schemaSize) add(path string, node *apiextensionsv1.JSONSchemaProps, depth int) string {
	own := *node
	own.Properties, own.AllOf, own.Items, own.AdditionalProperties = nil, nil, nil, nil
	if s.maxDescLen != nil && len(own.Description) > *s.maxDescLen {
		own.Description = own.Description[:*s.maxDescLen]
	}
	const indent, lines = 4, 3 // of a field in YAML
	s.nodes++
	s.bytes += own.Size() + depth*indent*lines
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
