package helmchart

import (
	"maps"
	"slices"
)

const (
	// maxCRDSize is the maximum size of the schemas of a CRD as JSON. kubectl apply writes the manifest into an annotation, and the
	// annotations of an object have a limit of 256 KiB.
	maxCRDSize = 240_000
	// maxSchemaDepth is the number of nested schemas.
	maxSchemaDepth = 30
)

// A schemaLimit limits the levels of a schema, the levels with descriptions, and the length of a description.
type schemaLimit struct{ levels, described, length int }

// schemaLimits are the limits of a schema that is too large: first, descriptions are shortened, then, deep levels accept any value,
// and finally, descriptions are left out.
func schemaLimits() []schemaLimit {
	limits := []schemaLimit{}
	for _, length := range []int{longestNote, 500, 250, 120, 60} {
		limits = append(limits, schemaLimit{maxSchemaDepth, maxSchemaDepth, length})
	}
	for levels := 12; levels >= 5; levels-- {
		limits = append(limits, schemaLimit{levels, levels, 60})
	}
	for levels := 4; levels >= 0; levels-- {
		limits = append(limits, schemaLimit{levels, 1, 60})
	}
	return limits
}

// shrink returns a schema with a size of at most limit bytes.
func shrink(s *valueSchema, limit int) *valueSchema {
	var out *valueSchema
	for _, l := range schemaLimits() {
		out = s.limited(l.levels, l.described, l.length)
		if jsonSize(out.encode(false)) <= limit {
			break
		}
	}
	return out
}

// limited returns a schema with at most depth levels, and descriptions of at most length bytes in the first levels.
func (s *valueSchema) limited(depth, described, length int) *valueSchema {
	out := *s
	if described > 0 {
		out.description = cut(s.description, length)
	} else {
		out.description = ""
	}
	if depth <= 0 {
		switch {
		case s.loose:
			return anything(out.description)
		case s.typ == objectType:
			return openObject(out.description)
		}
		out.items = nil
		return &out
	}
	if s.items != nil {
		out.items = s.items.limited(depth-1, described-1, length)
	}
	if s.additional != nil {
		out.additional = s.additional.limited(depth-1, described-1, length)
	}
	out.properties = maps.Clone(s.properties)
	for name, property := range s.properties {
		out.properties[name] = property.limited(depth-1, described-1, length)
	}
	out.required = slices.Clone(s.required)
	return &out
}
