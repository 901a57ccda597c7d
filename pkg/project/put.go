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

// put sets the value at a path of keys (string) and list positions (int), or takes it away when value is
// nil; a list position one past the end appends. Missing keys on the way are added, in alphabetical order
// where the file keeps that. Nothing changes on an error.
func (c *Config) put(path []any, value any) error {
	current, there := c.get(path)
	if there == (value != nil) && (value == nil || same(current, value)) {
		return nil
	}
	return c.checked(path, value)
}

// checked changes the text and reads it back, to be sure that it says what it is to say and that nothing
// else changed its meaning.
func (c *Config) checked(path []any, value any) error {
	return c.whole(func() error {
		old, _ := c.get(nil)
		if err := c.putText(path, value); err != nil {
			return err
		}
		// A file with keys that are no texts decodes to another type, which with does not know.
		if _, ok := old.(map[string]any); !ok {
			return nil
		}
		if now, ok := c.get(nil); !ok || !same(now, with(old, path, value)) {
			return unchangeable(path)
		}
		return nil
	})
}

func unchangeable(path []any) error {
	return &ParseError{Problem: fmt.Sprintf("%s cannot be changed in the way the file is written", pathName(path)),
		Hint: "write the file in block style, one key a line"}
}

// whole does several changes or, where one fails, none.
func (c *Config) whole(changes func() error) error {
	before := *c
	if err := changes(); err != nil {
		*c = before
		return err
	}
	return nil
}

// putDeep is put, but goes into maps and lists that are there already, so that the lines of what stays
// as it is stay too.
func (c *Config) putDeep(path []any, value any) error {
	current, ok := c.get(path)
	if !ok {
		return c.put(path, value)
	}
	switch want := value.(type) {
	case map[string]any:
		have, ok := current.(map[string]any)
		if !ok || len(have) == 0 || len(want) == 0 {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if err := c.putDeep(join(path, key), want[key]); err != nil {
				return err
			}
		}
		for _, key := range slices.Sorted(maps.Keys(have)) {
			if _, stays := want[key]; !stays {
				if err := c.put(join(path, key), nil); err != nil {
					return err
				}
			}
		}
		return nil
	case []any:
		have, ok := current.([]any)
		if !ok || len(have) == 0 || len(want) == 0 {
			break
		}
		for i, item := range want {
			if err := c.putDeep(join(path, i), item); err != nil {
				return err
			}
		}
		for i := len(have) - 1; i >= len(want); i-- {
			if err := c.put(join(path, i), nil); err != nil {
				return err
			}
		}
		return nil
	}
	return c.put(path, value)
}

// get returns the value at a path as YAML decodes it.
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

// with returns a value in which the one at path is set to another, or taken away when that is nil.
func with(whole any, path []any, value any) any {
	if len(path) == 0 {
		return value
	}
	switch step := path[0].(type) {
	case string:
		old, _ := whole.(map[string]any)
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
		old, _ := whole.([]any)
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
	return whole
}

// same compares two values as YAML would read them back.
func same(a, b any) bool {
	return reflect.DeepEqual(a, b) ||
		slices.Equal(yamlStyle{}.entry(0, "x", a), yamlStyle{}.entry(0, "x", b))
}

func join(path []any, step any) []any { return append(slices.Clone(path), step) }

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
