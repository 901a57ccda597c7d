package helmchart

import (
	"maps"
	"strings"
)

// An inference derives schemas from default values.
type inference struct {
	// tested are the names of keys whose type is tested by templates.
	tested map[string]bool
}

func (f inference) field(name string, v *value) *valueSchema {
	s := f.untitled(name, v)
	s.description = v.note.text
	if podName.MatchString(name) && (s.typ == objectType || s.typ == arrayType) {
		if s.loose = true; s.properties == nil && s.items == nil {
			s.typ = anyType
		}
	}
	return s
}

func (f inference) untitled(name string, v *value) *valueSchema {
	stated, isStated := typedNote(v.note)
	if isStated && stated == anyType {
		return anything("")
	}
	switch v.kind {
	case mapValue:
		if isStated && stated != objectType {
			return anything("")
		}
		return f.mapping(name, v)
	case listValue:
		if isStated && stated != arrayType || f.tested[name] {
			return anything("")
		}
		return f.list(v)
	case boolValue:
		if isStated && stated != booleanType || v.isFalse() && valueName.MatchString(name) || f.tested[name] {
			return anything("")
		}
		return &valueSchema{typ: booleanType}
	case intValue, floatValue:
		if isStated && stated != integerType || f.tested[name] {
			return anything("")
		}
		return number(name, v.kind)
	case stringValue:
		if isStated && stated != stringType || f.tested[name] {
			return anything("")
		}
		return text(name, v)
	case nullValue, mixedValue:
	}
	return anything("")
}

func (v *value) isFalse() bool {
	switch strings.ToLower(v.text) {
	case "false", "no", "n", "off":
		return true
	}
	return false
}

// number returns the schema of a key whose default is a number.
func number(name string, kind valueKind) *valueSchema {
	switch {
	case kind == intValue && integerName.MatchString(name):
		return &valueSchema{typ: integerType}
	case portName.MatchString(name):
		return &valueSchema{typ: intOrStringType}
	case scalarName.MatchString(name):
		return anything("")
	case kind == floatValue:
		return &valueSchema{typ: numberType}
	}
	return &valueSchema{typ: intOrStringType}
}

// text returns the schema of a key whose default is a string.
func text(name string, v *value) *valueSchema {
	switch {
	case v.block || strings.Contains(v.text, "\n") || strings.Contains(v.text, "{{"):
		return anything("") // configuration, which can be written as a mapping, too
	case portName.MatchString(name) && v.text != "":
		return &valueSchema{typ: intOrStringType}
	case numberLike.MatchString(v.text):
		return anything("")
	case stringName.MatchString(name):
		return &valueSchema{typ: stringType}
	case v.text == "" || scalarName.MatchString(name):
		return anything("")
	}
	return &valueSchema{typ: stringType}
}

// mapping returns the schema of a key whose default is a mapping. Keys without a default are allowed, because templates can read
// them.
func (f inference) mapping(name string, v *value) *valueSchema {
	if len(v.keys) == 0 && f.tested[name] {
		return anything("")
	}
	s := openObject("")
	if len(v.keys) == 0 || isFree(name, v) {
		return s
	}
	s.properties = map[string]*valueSchema{}
	for _, key := range v.keys {
		s.properties[key] = f.field(key, v.fields[key])
	}
	return s
}

// complete returns the schema of a key in values.schema.json with the descriptions of values.yaml, and with the keys that only the
// latter has: many charts describe few of their keys.
func (f inference) complete(name string, s *valueSchema, v *value) *valueSchema {
	out := *s
	if out.description == "" {
		out.description = v.note.text
	}
	if s.typ != objectType || s.additional != nil || v.kind != mapValue || len(s.properties) == 0 && isFree(name, v) {
		return &out
	}
	out.properties = map[string]*valueSchema{}
	maps.Copy(out.properties, s.properties)
	for _, key := range v.keys {
		switch own := s.properties[key]; {
		case own != nil:
			out.properties[key] = f.complete(key, own, v.fields[key])
		case !s.closed:
			out.properties[key] = f.field(key, v.fields[key])
		}
	}
	return &out
}

// list returns the schema of a key whose default is a list. Its items are described by all items of the default.
func (f inference) list(v *value) *valueSchema {
	s := &valueSchema{typ: arrayType}
	for i, item := range v.items {
		described := f.item(item)
		if i > 0 {
			described = union(s.items, described)
		}
		s.items = described
	}
	return s
}

func (f inference) item(v *value) *valueSchema {
	switch v.kind {
	case mapValue:
		return f.mapping("", v)
	case stringValue, intValue:
		if !v.block {
			return &valueSchema{typ: intOrStringType}
		}
	case nullValue, boolValue, floatValue, listValue, mixedValue:
	}
	return anything("")
}
