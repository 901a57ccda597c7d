package helmchart

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// descriptionOf returns the description of a JSON Schema, or its title.
func descriptionOf(v any) string {
	schema, _ := v.(map[string]any)
	for _, key := range []string{"description", "title"} {
		if text, ok := schema[key].(string); ok && strings.TrimSpace(text) != "" {
			return cut(strings.TrimSpace(text), longestNote)
		}
	}
	return ""
}

// typesOf returns the types that a JSON Schema accepts, including types that follow from its keywords.
func typesOf(v any) (names []string, ok bool) {
	schema, _ := v.(map[string]any)
	switch t := schema["type"].(type) {
	case string:
		return []string{t}, true
	case []any:
		for _, item := range t {
			name, ok := item.(string)
			if !ok {
				return nil, false
			}
			names = append(names, name)
		}
		return names, len(names) > 0
	}
	values := listOf(schema["enum"])
	if constant, ok := schema["const"]; ok {
		values = []any{constant}
	}
	for _, value := range values {
		name := "null"
		switch value := value.(type) {
		case string:
			name = "string"
		case bool:
			name = "boolean"
		case float64:
			name = "number"
			if value == math.Trunc(value) {
				name = "integer"
			}
		case []any:
			name = "array"
		case map[string]any:
			name = "object"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		return names, true
	}
	for _, key := range []string{"properties", "additionalProperties", "patternProperties"} {
		if _, ok := schema[key].(map[string]any); ok {
			return []string{"object"}, true
		}
	}
	if _, ok := schema["items"].(map[string]any); ok {
		return []string{"array"}, true
	}
	return nil, false
}

// typeOf returns the type of the values that a JSON Schema accepts, except null.
func typeOf(schema map[string]any) schemaType {
	names, ok := typesOf(schema)
	if !ok {
		return anyType
	}
	result, found := anyType, false
	for _, name := range names {
		if name == "null" {
			continue
		}
		next := anyType
		switch t := schemaType(name); t {
		case objectType, arrayType, stringType, integerType, numberType, booleanType:
			next = t
		}
		if found && next != result {
			next = commonType(result, next)
		}
		result, found = next, true
	}
	return result
}

// enumOf returns the valid values, or nil if they cannot be listed for the type.
func enumOf(typ schemaType, schema map[string]any) []any {
	values := listOf(schema["enum"])
	if constant, ok := schema["const"]; ok {
		values = []any{constant}
	}
	var out []any
	for _, value := range values {
		switch value.(type) {
		case nil:
			continue // all keys can be null
		case string:
			if typ != stringType {
				return nil
			}
		case bool:
			if typ != booleanType {
				return nil
			}
		case float64:
			if typ != integerType && typ != numberType {
				return nil
			}
		default:
			return nil
		}
		if !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
}

// addConstraints adds the keywords that limit values of the type.
func addConstraints(s *valueSchema, schema map[string]any, formats bool) {
	switch s.typ {
	case stringType:
		addCounts(s, schema, "minLength", "maxLength")
		if pattern, ok := schema["pattern"].(string); ok {
			if _, err := regexp.Compile(pattern); err == nil {
				s.constrain("pattern", pattern)
			}
		}
		// Kubernetes validates other formats in another way than JSON Schema.
		if format, ok := schema["format"].(string); ok && formats && slices.Contains([]string{"date-time", "ipv4", "ipv6"}, format) {
			s.constrain("format", format)
		}
	case arrayType:
		addCounts(s, schema, "minItems", "maxItems")
	case integerType, numberType:
		addBound(s, schema, "minimum", "exclusiveMinimum", func(a, b float64) bool { return a > b })
		addBound(s, schema, "maximum", "exclusiveMaximum", func(a, b float64) bool { return a < b })
		if multiple, ok := schema["multipleOf"].(float64); ok && multiple > 0 {
			s.constrain("multipleOf", multiple)
		}
	}
}

// addCounts adds keywords that are not negative integers.
func addCounts(s *valueSchema, schema map[string]any, names ...string) {
	for _, name := range names {
		if n, ok := schema[name].(float64); ok && n >= 0 && n <= math.MaxInt32 && n == math.Trunc(n) {
			s.constrain(name, int64(n))
		}
	}
}

// addBound adds a limit. In draft 4, the exclusive keyword is a boolean, in later ones a limit of its own.
func addBound(s *valueSchema, schema map[string]any, name, exclusive string, stricter func(a, b float64) bool) {
	limit, ok := schema[name].(float64)
	isExclusive, _ := schema[exclusive].(bool)
	if other, found := schema[exclusive].(float64); found && (!ok || !stricter(limit, other)) {
		limit, ok, isExclusive = other, true, true
	}
	if !ok {
		return
	}
	s.constrain(name, limit)
	if isExclusive {
		s.constrain(exclusive, true)
	}
}

// required returns the keys that a value must have. Keys with a default are not required, as a value overrides the defaults.
func required(schema map[string]any, at scope) []string {
	if at.partial {
		return nil
	}
	properties, _ := schema["properties"].(map[string]any)
	var names []string
	for _, item := range listOf(schema["required"]) {
		name, ok := item.(string)
		if !ok || properties[name] == nil || properties[name] == false {
			continue
		}
		if at.defaults != nil && (at.defaults.kind != mapValue || slices.Contains(at.defaults.keys, name)) {
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}
