package helmchart

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A schemaDocument is a JSON Schema of draft 4 to 2020-12.
type schemaDocument struct {
	root any
	// anchors are the schemas with a name, by "#name".
	anchors map[string]any
	// formats is true if the draft validates formats; siblings is true if it reads keywords next to $ref.
	formats, siblings bool
}

func readSchemaDocument(data []byte) (*schemaDocument, error) {
	if err := safeyaml.Check(data); err != nil {
		return nil, err
	}
	d := &schemaDocument{anchors: map[string]any{}, siblings: true}
	if err := json.Unmarshal(data, &d.root); err != nil {
		return nil, err
	}
	switch root := d.root.(type) {
	case bool:
		return d, nil
	case map[string]any:
		draft, _ := root["$schema"].(string)
		for _, name := range []string{"draft-04", "draft-06", "draft-07"} {
			if strings.Contains(draft, name) {
				d.formats, d.siblings = true, false
			}
		}
		d.collectAnchors(root)
		return d, nil
	}
	return nil, fmt.Errorf("must be a JSON Schema, which is an object")
}

// collectAnchors finds the schemas with a name.
func (d *schemaDocument) collectAnchors(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range []string{"$anchor", "$dynamicAnchor"} {
			if name, ok := v[key].(string); ok {
				d.anchors["#"+name] = v
			}
		}
		for _, key := range []string{"$id", "id"} {
			if name, ok := v[key].(string); ok && strings.HasPrefix(name, "#") {
				d.anchors[name] = v
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			d.collectAnchors(v[key])
		}
	case []any:
		for _, item := range v {
			d.collectAnchors(item)
		}
	}
}

func (d *schemaDocument) lookup(ref string) (any, bool) {
	if ref == "#" {
		return d.root, true
	}
	if schema, ok := d.anchors[ref]; ok {
		return schema, true
	}
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	current := d.root
	for part := range strings.SplitSeq(pointer, "/") {
		if unescaped, err := url.PathUnescape(part); err == nil {
			part = unescaped
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch v := current.(type) {
		case map[string]any:
			if current, ok = v[part]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			current = v[i]
		default:
			return nil, false
		}
	}
	return current, true
}

// maxSchemaNodes is the number of schemas after references are replaced. Those beyond it accept any value.
const maxSchemaNodes = 40_000

// convert returns the structural schema of values. The defaults come from the chart.
func (d *schemaDocument) convert(defaults *value) *valueSchema {
	c := converter{document: d, left: maxSchemaNodes}
	return c.schema(d.root, scope{defaults: defaults})
}

// A converter converts the schemas of a document.
type converter struct {
	document *schemaDocument
	left     int
	// open are the references that are being replaced.
	open []string
}

// A scope describes where a schema is applied.
type scope struct {
	// defaults is the default value, or nil.
	defaults *value
	// partial is true if defaults of unknown keys can be merged with a value.
	partial bool
	depth   int
}

func (s scope) field(name string) scope {
	next := scope{partial: s.partial, depth: s.depth + 1}
	if s.defaults != nil && s.defaults.kind == mapValue {
		next.defaults = s.defaults.fields[name]
	}
	return next
}

// schema converts a schema. Schemas of unsupported form accept any value.
func (c *converter) schema(v any, at scope) *valueSchema {
	schema, ok := v.(map[string]any)
	if c.left--; !ok || c.left < 0 || at.depth > maxSchemaDepth {
		return anything(descriptionOf(v))
	}
	if ref, ok := schema["$ref"].(string); ok {
		return c.reference(schema, ref, at)
	}
	if schema["$dynamicRef"] != nil || schema["$recursiveRef"] != nil {
		return anything(descriptionOf(v))
	}
	return c.keywords(schema, at)
}

// reference converts the schema that a reference refers to. Recursive ones accept any value.
func (c *converter) reference(schema map[string]any, ref string, at scope) *valueSchema {
	target, ok := c.document.lookup(ref)
	if !ok || slices.Contains(c.open, ref) {
		return anything(descriptionOf(schema))
	}
	c.open = append(c.open, ref)
	s := c.schema(target, at)
	c.open = c.open[:len(c.open)-1]
	if c.document.siblings {
		siblings := maps.Clone(schema)
		delete(siblings, "$ref")
		s = intersect(s, c.keywords(siblings, at))
	}
	if description := descriptionOf(schema); description != "" {
		copied := *s
		copied.description = description
		s = &copied
	}
	return s
}

// keywords converts a schema without a reference.
func (c *converter) keywords(schema map[string]any, at scope) *valueSchema {
	s := &valueSchema{typ: typeOf(schema), description: descriptionOf(schema)}
	switch s.typ {
	case objectType:
		c.object(s, schema, at)
	case arrayType:
		if items, ok := schema["items"].(map[string]any); ok && schema["prefixItems"] == nil {
			s.items = c.schema(items, scope{depth: at.depth + 1})
		}
	}
	addConstraints(s, schema, c.document.formats)
	s.enum = enumOf(s.typ, schema)
	for _, part := range listOf(schema["allOf"]) {
		s = intersect(s, c.schema(part, scope{defaults: at.defaults, partial: at.partial, depth: at.depth + 1}))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if choices := listOf(schema[key]); len(choices) > 0 {
			s = intersect(s, c.choice(s.typ, choices, at))
		}
	}
	// Without the properties of conditional schemas, the object cannot be closed.
	if s.closed && schema["unevaluatedProperties"] == false && (schema["if"] != nil || schema["dependentSchemas"] != nil) {
		s.closed = false
	}
	return s
}

// choice returns a schema that accepts the values of all alternatives. Alternatives without a type have the type of the schema around them.
func (c *converter) choice(outer schemaType, choices []any, at scope) *valueSchema {
	var out *valueSchema
	for _, choice := range choices {
		next := c.schema(choice, scope{defaults: at.defaults, partial: at.partial, depth: at.depth + 1})
		if typeNames, _ := typesOf(choice); slices.Equal(typeNames, []string{"null"}) {
			continue // all keys can be null
		}
		if next.typ == anyType && outer != anyType {
			next.typ = outer
		}
		next.description = ""
		if out == nil {
			out = next
		} else {
			out = union(out, next)
		}
	}
	if out == nil {
		return anything("")
	}
	// The alternatives limit combinations of keys, some of which have defaults.
	out.required = nil
	return out
}

// object converts the keywords of objects.
func (c *converter) object(s *valueSchema, schema map[string]any, at scope) {
	properties, _ := schema["properties"].(map[string]any)
	patterns, _ := schema["patternProperties"].(map[string]any)
	closed := schema["additionalProperties"] == false || schema["unevaluatedProperties"] == false
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if properties[name] == false {
			continue
		}
		if s.properties == nil {
			s.properties = map[string]*valueSchema{}
		}
		s.properties[name] = c.schema(properties[name], at.field(name))
	}
	s.closed = closed && len(patterns) == 0 && len(properties) > 0
	s.required = required(schema, at)
	if len(properties) > 0 {
		return
	}
	// The values of a mapping are merged with defaults of the same key.
	inner := scope{depth: at.depth + 1, partial: at.partial || at.defaults != nil && len(at.defaults.keys) > 0}
	if additional, ok := schema["additionalProperties"].(map[string]any); ok && len(patterns) == 0 {
		s.additional = c.schema(additional, inner)
		return
	}
	if closed {
		for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
			next := c.schema(patterns[pattern], inner)
			if s.additional != nil {
				next = union(s.additional, next)
			}
			s.additional = next
		}
	}
}
