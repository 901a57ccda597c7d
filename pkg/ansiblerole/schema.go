package ansiblerole

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A SpecSchema is the schema of spec of a kind.
type SpecSchema struct {
	// OpenAPI is the schema, a structural schema of Kubernetes.
	OpenAPI map[string]any
	// Required reports whether objects need a spec.
	Required bool
	// Sample are the fields of spec in a sample as YAML with comments, not indented. SampleEmpty reports whether these are comments only.
	Sample      []byte
	SampleEmpty bool
	// Notes state what the schema lacks.
	Notes diag.Findings
}

// preserveUnknown is the keyword of schemas whose unknown keys are kept.
const preserveUnknown = "x-kubernetes-preserve-unknown-fields"

// Schema returns the schema of spec for the argument specifications of the roles that a watch runs, or nil if there are none. Names
// of arguments are in camel case where the runtime converts them back. Keys of mappings without options are not converted. A default
// is only in the schema if it is a literal and the role has no other one. The schema accepts any field if a role has no argument
// specification, or if a playbook has tasks or expressions of its own.
func Schema(files Files, watch Watch) (*SpecSchema, error) {
	r := specReader{newAnalysis(files, nil), watch.KeepNames, watch.Object}
	all, description, found := r.specArguments(watch)
	if !found && !slices.ContainsFunc(r.files.paths, r.files.mentionsSpecification) {
		return nil, nil // whatever the unreadable files contain
	}
	for _, name := range slices.Sorted(maps.Keys(r.files.unreadable)) {
		if found {
			r.notes = append(r.notes, r.files.unreadable[name])
			continue
		}
		return nil, r.files.unreadable[name]
	}
	if !found {
		return nil, nil
	}
	schema := r.objectSchema(all)
	if len(r.walker.opened) > 0 {
		schema[preserveUnknown] = true
		r.notes = append(r.notes, r.walker.opened...)
	}
	if description == "" {
		description = "spec defines the desired state."
	}
	schema["description"] = description
	shorten(schema)
	required, _ := schema["required"].([]string)
	result := &SpecSchema{OpenAPI: schema, Required: len(required) > 0 || schema["allOf"] != nil, Notes: r.notes.Sort()}
	result.Sample, result.SampleEmpty = sample(all)
	return result, nil
}

// specArguments returns the arguments in the specifications of the roles that a watch runs, and the first description. found is false
// if there are no specifications.
func (r *specReader) specArguments(watch Watch) (all []*argument, description string, found bool) {
	entries := r.entryPoints(watch)
	r.notes = nil
	for _, entry := range entries {
		spec := r.specification(entry.dir, entry.tasks)
		if spec == nil {
			r.walker.opened.Addf(diag.Position{File: entry.dir}, "no argument specification for %s; the schema of spec accepts any field", entry.tasks)
			continue
		}
		found = true
		if description == "" {
			description = spec.description
		}
		for _, o := range spec.arguments {
			if _, ok := watch.Vars[cmp.Or(o.aliasOf, o.name)]; ok || slices.ContainsFunc(all, func(other *argument) bool { return other.field == o.field }) {
				continue // the value of the watch takes precedence
			}
			if entry.optional || entry.scope.defines(o.name) {
				o.required = false
			}
			r.checkDefault(o, entry)
			all = append(all, o)
		}
	}
	return all, description, found
}

// checkDefault records the default that the variables of the role have, and removes the default of an argument if it is another
// one.
func (r *specReader) checkDefault(o *argument, entry entryPoint) {
	var own *yaml.Node
	for at := entry.scope; at != nil && own == nil; at = at.parent {
		own = at.vars[o.name].node
	}
	if o.current = own; own == nil || o.fallback == nil || sameYAML(o.fallback, own) {
		return
	}
	if own.Kind == yaml.ScalarNode && !jinja.IsTemplate(own.Value) {
		r.notes.Addf(o.at, "%s: the default %q is not the role's, %q; the schema has none", o.name, text(o.fallback), own.Value)
	}
	o.fallback = nil
}

func sameYAML(a, b *yaml.Node) bool {
	one, err := decodeNode(a)
	other, err2 := decodeNode(b)
	if err != nil || err2 != nil {
		return false
	}
	x, err := json.Marshal(one)
	y, err2 := json.Marshal(other)
	return err == nil && err2 == nil && string(x) == string(y)
}

func decodeNode(node *yaml.Node) (any, error) {
	data, err := yaml.Marshal(node)
	if err != nil {
		return nil, err
	}
	var v any
	err = safeyaml.UnmarshalJSON(data, &v)
	return v, err
}

func (r *specReader) objectSchema(options []*argument) map[string]any {
	properties := map[string]any{}
	var required []string
	var alternatives []any
	for _, o := range options {
		properties[o.field] = r.argumentSchema(o)
		switch {
		case o.required && len(o.aliases) > 0:
			names := []any{map[string]any{"required": []string{o.field}}}
			for _, alias := range o.aliases {
				names = append(names, map[string]any{"required": []string{alias}})
			}
			alternatives = append(alternatives, map[string]any{"anyOf": names})
		case o.required:
			required = append(required, o.field)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(alternatives) > 0 {
		schema["allOf"] = alternatives
	}
	if len(required) > 0 {
		slices.Sort(required)
		schema["required"] = required
	}
	return schema
}

// userData returns the schema of a value of any type whose keys are not converted.
func userData() map[string]any {
	return map[string]any{preserveUnknown: true, "additionalProperties": map[string]any{preserveUnknown: true}}
}

func (r *specReader) argumentSchema(o *argument) map[string]any {
	schema := r.typeSchema(o, o.typ)
	choices := schema
	if o.typ == "list" {
		elements := o.elements
		if elements == "" {
			elements = "raw"
		}
		choices = r.typeSchema(o, elements)
		schema["items"] = choices
	}
	if enum := enumOf(o.choices, choices["type"]); len(enum) > 0 {
		choices["enum"] = enum
	}
	if o.description != "" {
		schema["description"] = o.description
	}
	if v, ok := r.literalDefault(o, schema); ok {
		schema["default"] = v
	}
	return schema
}

func (r *specReader) typeSchema(o *argument, typ string) map[string]any {
	switch typ {
	case "str", "path":
		return map[string]any{"type": "string"}
	case "int":
		return map[string]any{"type": "integer"}
	case "float":
		return map[string]any{"type": "number"}
	case "bool":
		return map[string]any{"type": "boolean"}
	case "bytes", "bits":
		return map[string]any{"x-kubernetes-int-or-string": true}
	case "list":
		return map[string]any{"type": "array", "items": userData()}
	case "dict":
		if len(o.options) > 0 {
			return r.objectSchema(o.options)
		}
		return map[string]any{"type": "object", "additionalProperties": map[string]any{preserveUnknown: true}}
	case "raw", "json", "jsonarg":
	default:
		r.notes.Addf(o.at, "%s: unknown type %q; the schema accepts any value", o.name, typ)
	}
	return userData()
}

// enumOf returns the choices of an argument as values of a type. It returns nil if some are not.
func enumOf(choices []*yaml.Node, typ any) []any {
	var enum []any
	for _, choice := range choices {
		v, ok := scalarOf(choice, typ)
		if !ok || typ == "boolean" {
			return nil
		}
		if !slices.Contains(enum, v) {
			enum = append(enum, v)
		}
	}
	return enum
}

// scalarOf converts a scalar to a type of schemas, as Ansible does.
func scalarOf(node *yaml.Node, typ any) (any, bool) {
	if node = content(node); node == nil || node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		return nil, false
	}
	switch typ {
	case "string":
		return node.Value, true
	case "integer":
		n, err := strconv.ParseInt(node.Value, 10, 64)
		return n, err == nil
	case "number":
		f, err := strconv.ParseFloat(node.Value, 64)
		return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	case "boolean":
		switch node.Value {
		case "true", "True", "yes", "Yes", "on", "1":
			return true, true
		case "false", "False", "no", "No", "off", "0":
			return false, true
		}
	}
	return nil, false
}

// literalDefault returns the default of an argument as a value of its schema. ok is false for values that depend on variables, or that
// the schema does not accept.
func (r *specReader) literalDefault(o *argument, schema map[string]any) (any, bool) {
	node := content(o.fallback)
	if node == nil || o.required || hasTemplates(node, 0) || len(o.aliases) > 0 { // which would override an alias
		return nil, false
	}
	if v, ok := scalarOf(node, schema["type"]); ok {
		enum, limited := schema["enum"].([]any)
		return v, !limited || slices.Contains(enum, v)
	}
	switch {
	case schema["x-kubernetes-int-or-string"] == true && node.Kind == yaml.ScalarNode && node.Tag != "!!null":
		if n, ok := scalarOf(node, "integer"); ok && node.Tag == "!!int" {
			return n, true
		}
		return node.Value, node.Tag == "!!str"
	case schema["type"] == "object" && schema["required"] == nil && schema["allOf"] == nil && node.Kind == yaml.MappingNode && len(node.Content) == 0,
		schema["type"] == "array" && node.Kind == yaml.SequenceNode && len(node.Content) == 0:
		v, err := decodeNode(node)
		return v, err == nil
	case schema["type"] == "array" && node.Kind == yaml.SequenceNode:
		items, _ := schema["items"].(map[string]any)
		enum, limited := items["enum"].([]any)
		var list []any
		for _, item := range node.Content {
			v, ok := scalarOf(item, items["type"])
			if !ok || limited && !slices.Contains(enum, v) {
				return nil, false
			}
			list = append(list, v)
		}
		return list, true
	}
	return nil, false
}

// hasTemplates reports whether a value depends on variables.
func hasTemplates(node *yaml.Node, depth int) bool {
	node = content(node)
	if node == nil || depth > maxDepth {
		return false
	}
	if node.Kind == yaml.ScalarNode {
		return jinja.IsTemplate(node.Value)
	}
	return slices.ContainsFunc(node.Content, func(child *yaml.Node) bool { return hasTemplates(child, depth+1) })
}

// maxSchemaSize is the size of a schema that fits into the annotation of kubectl apply, and into a CRD with other versions.
const maxSchemaSize = 100 << 10

// shorten removes descriptions of a schema that is too large.
func shorten(schema map[string]any) {
	data, err := json.Marshal(schema)
	if err == nil && len(data) > maxSchemaSize {
		removeDescriptions(schema, 0)
		schema["description"] = fmt.Sprint(schema["description"])
	}
}

func removeDescriptions(schema map[string]any, depth int) {
	if depth > 0 {
		delete(schema, "description")
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, property := range properties {
		if inner, ok := property.(map[string]any); ok {
			removeDescriptions(inner, depth+1)
		}
	}
	if inner, ok := schema["items"].(map[string]any); ok {
		removeDescriptions(inner, depth+1)
	}
}
