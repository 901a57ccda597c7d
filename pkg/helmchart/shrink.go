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

// shrink returns a schema with a size of at most limit bytes: first, descriptions are shortened, then they are left out in deep
// levels, and finally, deep levels accept any value.
func shrink(s *valueSchema, limit int) *valueSchema {
	s = s.limited(maxSchemaDepth, maxSchemaDepth, longestNote)
	fits := func() bool { return jsonSize(s.encode(false)) <= limit }
	for _, length := range []int{500, 250, 120, 60} {
		if fits() {
			return s
		}
		s = s.limited(maxSchemaDepth, maxSchemaDepth, length)
	}
	for levels := 6; levels > 1 && !fits(); levels-- {
		s = s.limited(maxSchemaDepth, levels, 60)
	}
	for depth := 12; depth > 0 && !fits(); depth-- {
		s = s.limited(depth, 1, 60)
	}
	return s
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
		switch s.typ {
		case objectType:
			return openObject(out.description)
		case arrayType:
			out.items = nil
		}
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
