package operatorchart

import (
	"maps"
	"slices"
	"strings"
)

// A mapping is a YAML mapping with its order.
type mapping []entry

// A sequence is a YAML sequence. Its entries have no keys.
type sequence []entry

// An entry is a part of a mapping or sequence.
type entry struct {
	key string
	// value is a scalar, an expression, a mapping or a sequence. It's unused if lines isn't nil.
	value any
	// given is the condition of a template on which the entry depends, or "".
	given string
	// some is the condition on which lines print something. They check it themselves.
	some string
	// lines are complete lines of a template for an indentation, instead of a key with a value.
	lines func(indent int) string
}

// An expression is a scalar with actions of a template.
type expression string

// tree returns the fields of an object as a tree. text replaces strings; it gets the key below which a string is.
func tree(value any, key string, text func(s, key string) any) any {
	switch v := value.(type) {
	case map[string]any:
		m := mapping{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			m = append(m, entry{key: key, value: tree(v[key], key, text)})
		}
		return m
	case []any:
		s := sequence{}
		for _, item := range v {
			s = append(s, entry{value: tree(item, key, text)})
		}
		return s
	case string:
		return text(v, key)
	}
	return value
}

// plain keeps all strings.
func plain(s, _ string) any { return s }

// at returns the value at a path of mappings, or nil.
func (m mapping) at(path ...string) any {
	var value any = m
	for _, key := range path {
		inner, _ := value.(mapping)
		i := inner.index(key)
		if i < 0 {
			return nil
		}
		value = inner[i].value
	}
	return value
}

// mappingAt returns the mapping at a path, or nil.
func (m mapping) mappingAt(path ...string) mapping {
	inner, _ := m.at(path...).(mapping)
	return inner
}

// index returns the index of a key, or -1.
func (m mapping) index(key string) int {
	return slices.IndexFunc(m, func(e entry) bool { return e.key == key && e.lines == nil })
}

// change replaces the value at a path, whose mappings it makes if they don't exist.
func (m mapping) change(change func(value any) any, path ...string) mapping {
	i := m.index(path[0])
	if i < 0 {
		m, i = append(m, entry{key: path[0]}), len(m)
	}
	if len(path) == 1 {
		m[i].value = change(m[i].value)
		return m
	}
	inner, _ := m[i].value.(mapping)
	m[i].value = inner.change(change, path[1:]...)
	return m
}

// set sets the value at a path.
func (m mapping) set(value any, path ...string) mapping {
	return m.change(func(any) any { return value }, path...)
}

// setGiven makes an entry depend on a condition.
func (m mapping) setGiven(key, given string) {
	if i := m.index(key); i >= 0 {
		m[i].given = given
	}
}

// replace replaces the entry of a key, or adds one, by lines of a template.
func (m mapping) replace(key string, lines func(int) string) mapping {
	if i := m.index(key); i >= 0 {
		m[i] = entry{key: key, lines: lines}
		return m
	}
	return append(m, entry{key: key, lines: lines})
}

// without returns the mapping without a key.
func (m mapping) without(key string) mapping {
	return slices.DeleteFunc(m, func(e entry) bool { return e.key == key })
}

// sorted returns the entries in the order of their keys. Lines that belong to no key come last.
func (m mapping) sorted() mapping {
	slices.SortStableFunc(m, func(a, b entry) int {
		if (a.key == "") != (b.key == "") {
			return strings.Compare(b.key, a.key)
		}
		return strings.Compare(a.key, b.key)
	})
	return m
}

// walk calls visit for each mapping in a value, the inner ones first, and replaces it by the result.
func walk(value any, visit func(mapping) mapping) any {
	switch v := value.(type) {
	case mapping:
		for i := range v {
			v[i].value = walk(v[i].value, visit)
		}
		return visit(v)
	case sequence:
		for i := range v {
			v[i].value = walk(v[i].value, visit)
		}
	}
	return value
}
