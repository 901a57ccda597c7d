package project

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// put sets the value at a path of keys (string) and list indices (int). Nil removes it, an index after the end appends. Missing
// keys are added, in alphabetical order if the file is sorted. On an error nothing changes.
func (c *Config) put(path []any, value any) error {
	current, exists := c.get(path)
	if exists == (value != nil) && (value == nil || same(current, value)) {
		return nil
	}
	return c.checked(path, value)
}

// checked changes the text and parses it, to verify that exactly the value at the path has changed.
func (c *Config) checked(path []any, value any) error {
	return c.atomically(func() error {
		old, _ := c.get(nil)
		if err := c.putText(path, value); err != nil {
			return err
		}
		// A file with keys that are not strings decodes to another type, which function with does not support.
		if _, ok := old.(map[string]any); !ok {
			return nil
		}
		if now, ok := c.get(nil); !ok || !same(now, with(old, path, value)) {
			return unchangeable(path)
		}
		return nil
	})
}

// unchangeable returns the error for a value that cannot be edited.
func unchangeable(path []any) error {
	return finding(0, 0, fmt.Sprintf("cannot edit %s in the style of the file", pathName(path)), "write the file in block style, one key per line")
}

// atomically makes several changes, or none if one fails.
func (c *Config) atomically(changes func() error) error {
	before := *c
	if err := changes(); err != nil {
		*c = before
		return err
	}
	return nil
}

// putDeep is put for each value of existing mappings and lists, so that lines of unchanged values are kept.
func (c *Config) putDeep(path []any, value any) error {
	current, ok := c.get(path)
	if !ok {
		return c.put(path, value)
	}
	switch want := value.(type) {
	case map[string]any:
		existing, ok := current.(map[string]any)
		if !ok || len(existing) == 0 || len(want) == 0 {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if err := c.putDeep(join(path, key), want[key]); err != nil {
				return err
			}
		}
		for _, key := range slices.Sorted(maps.Keys(existing)) {
			if _, ok := want[key]; !ok {
				if err := c.put(join(path, key), nil); err != nil {
					return err
				}
			}
		}
		return nil
	case []any:
		existing, ok := current.([]any)
		if !ok || len(existing) == 0 || len(want) == 0 {
			break
		}
		for i, item := range want {
			if err := c.putDeep(join(path, i), item); err != nil {
				return err
			}
		}
		for i := len(existing) - 1; i >= len(want); i-- {
			if err := c.put(join(path, i), nil); err != nil {
				return err
			}
		}
		return nil
	}
	return c.put(path, value)
}

// get returns the decoded value at a path.
func (c *Config) get(path []any) (any, bool) {
	node := c.root
	for _, step := range path {
		switch s := step.(type) {
		case string:
			node = safeyaml.Child(node, s)
		case int:
			if node.Kind != yaml.SequenceNode || s >= len(node.Content) {
				return nil, false
			}
			node = node.Content[s]
		}
		if node == nil {
			return nil, false
		}
	}
	var value any
	if node.Decode(&value) != nil {
		return nil, false
	}
	return value, true
}

// with returns a document in which the value at a path is replaced, or removed if it is nil.
func with(document any, path []any, value any) any {
	if len(path) == 0 {
		return value
	}
	switch step := path[0].(type) {
	case string:
		old, _ := document.(map[string]any)
		m := maps.Clone(old)
		if m == nil {
			m = map[string]any{}
		}
		if inner := with(m[step], path[1:], value); inner != nil {
			m[step] = inner
		} else {
			delete(m, step)
		}
		if len(m) == 0 {
			return nil
		}
		return m
	case int:
		old, _ := document.([]any)
		list := slices.Clone(old)
		if step >= len(list) {
			return append(list, with(nil, path[1:], value))
		}
		if inner := with(list[step], path[1:], value); inner != nil {
			list[step] = inner
		} else {
			list = slices.Delete(list, step, step+1)
		}
		if len(list) == 0 {
			return nil
		}
		return list
	}
	return document
}

// same reports whether two values are equal after encoding them as YAML.
func same(a, b any) bool {
	return reflect.DeepEqual(a, b) ||
		slices.Equal(yamlStyle{}.entry(0, "x", a), yamlStyle{}.entry(0, "x", b))
}

// join returns a path with another step.
func join(path []any, step any) []any { return append(slices.Clone(path), step) }

// pathName returns a path for messages.
func pathName(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch s := step.(type) {
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		}
	}
	return b.String()
}
