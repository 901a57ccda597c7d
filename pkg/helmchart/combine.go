package helmchart

import (
	"maps"
	"slices"
)

// union returns a schema that accepts the values of both schemas.
func union(a, b *valueSchema) *valueSchema {
	description := a.description
	if description == "" {
		description = b.description
	}
	if a.typ != b.typ {
		return &valueSchema{typ: commonType(a.typ, b.typ), description: description}
	}
	out := &valueSchema{typ: a.typ, description: description, loose: a.loose || b.loose}
	switch a.typ {
	case objectType:
		unionObjects(out, a, b)
	case arrayType:
		if a.items != nil && b.items != nil {
			out.items = union(a.items, b.items)
		}
	default:
		if len(a.enum) > 0 && len(b.enum) > 0 {
			out.enum = addMissing(a.enum, b.enum)
		}
	}
	for name, value := range a.constraints {
		if b.constraints[name] == value {
			out.constrain(name, value)
		}
	}
	return out
}

func unionObjects(out, a, b *valueSchema) {
	if a.additional != nil && b.additional != nil {
		out.additional = union(a.additional, b.additional)
		return
	}
	if a.additional != nil || b.additional != nil {
		return
	}
	out.closed = a.closed && b.closed
	for _, name := range a.required {
		if slices.Contains(b.required, name) {
			out.required = append(out.required, name)
		}
	}
	out.properties = map[string]*valueSchema{}
	for _, pair := range [][2]*valueSchema{{a, b}, {b, a}} {
		for name, property := range pair[0].properties {
			other := pair[1].properties[name]
			switch {
			case other != nil:
				out.properties[name] = union(a.properties[name], b.properties[name])
			case pair[1].closed:
				out.properties[name] = property
			default: // the other schema accepts all values of the key
				out.properties[name] = relaxed(property)
			}
		}
	}
}

// relaxed returns the schema of a key that only one of two examples has: it describes the key, and does not require keys of it.
func relaxed(s *valueSchema) *valueSchema {
	copied := *s
	copied.required, copied.enum, copied.constraints = nil, nil, nil
	return &copied
}

// commonType returns the type that has the values of two different types.
func commonType(a, b schemaType) schemaType {
	pair := []schemaType{a, b}
	only := func(types ...schemaType) bool {
		return slices.Contains(types, a) && slices.Contains(types, b)
	}
	switch {
	case only(integerType, numberType):
		return numberType
	case only(integerType, stringType, intOrStringType) && !slices.Contains(pair, anyType):
		return intOrStringType
	}
	return anyType
}

// intersect returns a schema that accepts the values that both schemas accept, and maybe others.
func intersect(a, b *valueSchema) *valueSchema {
	if a.typ == anyType {
		a, b = b, a
	}
	out := *a
	if out.description == "" {
		out.description = b.description
	}
	if a.typ != b.typ {
		return &out
	}
	switch a.typ {
	case objectType:
		out.intersectObjects(a, b)
	case arrayType:
		if a.items == nil {
			out.items = b.items
		} else if b.items != nil {
			out.items = intersect(a.items, b.items)
		}
	}
	if len(out.enum) == 0 {
		out.enum = b.enum
	}
	out.constraints = maps.Clone(a.constraints)
	for name, value := range b.constraints {
		if _, ok := a.constraints[name]; !ok {
			out.constrain(name, value)
		}
	}
	return &out
}

func (s *valueSchema) intersectObjects(a, b *valueSchema) {
	s.required = nil
	s.required = append(append(s.required, a.required...), b.required...)
	slices.Sort(s.required)
	s.required = slices.Compact(s.required)
	if len(a.properties) == 0 && len(b.properties) == 0 {
		if s.additional == nil {
			s.additional = b.additional
		}
		return
	}
	// An object cannot have both properties and additional ones, so that these are not described.
	s.closed = (a.closed || b.closed) && a.additional == nil && b.additional == nil
	s.additional = nil
	s.properties = maps.Clone(a.properties)
	if s.properties == nil {
		s.properties = map[string]*valueSchema{}
	}
	for name, property := range b.properties {
		if own := s.properties[name]; own != nil {
			property = intersect(own, property)
		}
		s.properties[name] = property
	}
}

func (s *valueSchema) constrain(name string, value any) {
	if s.constraints == nil {
		s.constraints = map[string]any{}
	}
	s.constraints[name] = value
}

// addMissing returns a list with the values of another that it lacks.
func addMissing(list, other []any) []any {
	list = slices.Clone(list)
	for _, value := range other {
		if !slices.Contains(list, value) {
			list = append(list, value)
		}
	}
	return list
}
