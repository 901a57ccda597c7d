package helmchart

import (
	"encoding/json"
	"maps"
)

// A schemaType is the type of a schema.
type schemaType string

// The types of schemas. Values of anyType are not validated.
const (
	anyType         schemaType = ""
	objectType      schemaType = "object"
	arrayType       schemaType = "array"
	stringType      schemaType = "string"
	integerType     schemaType = "integer"
	numberType      schemaType = "number"
	booleanType     schemaType = "boolean"
	intOrStringType schemaType = "int-or-string"
)

// preserveUnknown is the keyword of schemas whose unknown keys are kept.
const preserveUnknown = "x-kubernetes-preserve-unknown-fields"

// A valueSchema describes the values of a key. It can be encoded as a structural schema of Kubernetes, and accepts at least the values
// that the chart accepts.
type valueSchema struct {
	typ         schemaType
	description string

	// properties, required and closed describe objects. Unknown keys of closed objects are removed by the API server.
	properties map[string]*valueSchema
	required   []string
	closed     bool
	// loose allows other values than objects or arrays of the type.
	loose bool
	// additional describes the values of all keys of an object without properties; nil allows any.
	additional *valueSchema
	// items describes the items of an array; nil allows any.
	items *valueSchema

	enum []any
	// constraints are keywords that are copied: minimum, maxLength, pattern, format.
	constraints map[string]any
}

func anything(description string) *valueSchema { return &valueSchema{description: description} }

// openObject returns a schema of objects with any keys.
func openObject(description string) *valueSchema {
	return &valueSchema{typ: objectType, description: description}
}

// encode returns the schema as fields of an OpenAPI v3 schema. Values of keys can be null, which deletes the default of the chart.
func (s *valueSchema) encode(nullable bool) map[string]any {
	out := map[string]any{}
	maps.Copy(out, s.constraints)
	if s.description != "" {
		out["description"] = s.description
	}
	if nullable {
		out["nullable"] = true
	}
	switch s.typ {
	case anyType:
		out[preserveUnknown] = true
		return out
	case intOrStringType:
		out["x-kubernetes-int-or-string"] = true
	default:
		if !s.loose {
			out["type"] = string(s.typ)
		}
	}
	switch {
	case len(s.enum) > 0 && nullable: // the API server compares null with an enum, but not with one of allOf
		out["allOf"] = []any{map[string]any{"enum": s.enum}}
	case len(s.enum) > 0:
		out["enum"] = s.enum
	}
	if s.loose {
		out[preserveUnknown] = true
	}
	switch s.typ {
	case arrayType:
		items := s.items
		if items == nil {
			items = anything("")
		}
		out["items"] = items.encode(false)
	case objectType:
		s.encodeObject(out)
	}
	return out
}

func (s *valueSchema) encodeObject(out map[string]any) {
	switch {
	case len(s.properties) > 0:
		properties := map[string]any{}
		for name, property := range s.properties {
			properties[name] = property.encode(true)
		}
		out["properties"] = properties
		if len(s.required) > 0 {
			out["required"] = s.required
		}
		if !s.closed {
			out[preserveUnknown] = true
		}
	case s.additional != nil:
		out["additionalProperties"] = s.additional.encode(true)
	default:
		out[preserveUnknown] = true
	}
}

func jsonSize(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return 0 // a schema has no values that cannot be encoded
	}
	return len(data)
}
