package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// knownFields returns the fields of a schema's blobs, and the fields of the items in its entries.
func knownFields(schema string) (fields, entries []string) {
	switch schema {
	case declcfg.SchemaPackage:
		return []string{"schema", "name", "defaultChannel", "icon", "description", "properties"}, nil
	case declcfg.SchemaChannel:
		return []string{"schema", "name", "package", "entries", "properties"}, []string{"name", "replaces", "skips", "skipRange"}
	case declcfg.SchemaBundle:
		return []string{"schema", "name", "package", "image", "properties", "relatedImages"}, nil
	case declcfg.SchemaDeprecation:
		return []string{"schema", "package", "entries"}, []string{"reference", "message"}
	}
	return nil, nil
}

// Warnings returns fields that OLM ignores silently, such as a misspelled replaces.
func (c *Catalog) Warnings() diag.Findings {
	var warnings diag.Findings
	for _, b := range c.blobs {
		fields, entries := knownFields(b.meta.Schema)
		if fields == nil {
			continue
		}
		var doc yaml.Node
		if err := safeyaml.Unmarshal(b.Data, &doc); err != nil || len(doc.Content) == 0 {
			continue
		}
		unknown := func(node *yaml.Node, fields []string) {
			for key := range safeyaml.Fields(node) {
				// opm ignores the case of keys, and x- is the prefix of custom fields.
				if slices.ContainsFunc(fields, func(f string) bool { return strings.EqualFold(f, key.Value) }) || strings.HasPrefix(key.Value, "x-") || key.Value == "<<" {
					continue
				}
				warnings = append(warnings, diag.Finding{
					Position: diag.Position{File: b.File, Line: b.Line + key.Line - 1, Column: key.Column},
					Problem:  fmt.Sprintf("unknown field %s of %s, which OLM ignores; the fields are %s", key.Value, b.meta.Schema, strings.Join(fields, ", ")),
				})
			}
		}
		unknown(doc.Content[0], fields)
		if list := safeyaml.Child(doc.Content[0], "entries"); list != nil && entries != nil {
			for _, item := range list.Content {
				unknown(item, entries)
			}
		}
	}
	return warnings
}
