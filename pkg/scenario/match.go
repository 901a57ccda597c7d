package scenario

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Difference is a field that isn't as it should be. Got is nil if the field doesn't exist.
type Difference struct {
	Path      string
	Want, Got any
}

// Differences returns how an object differs from the fields that it must have. It can have others, except in lists, whose elements are
// compared one by one.
func Differences(want, got map[string]any) []Difference { return differences("", want, got) }

func differences(path string, want, got any) (found []Difference) {
	switch want := want.(type) {
	case map[string]any:
		fields, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if isFilter(key) {
				elements, selection := selected(fields, key)
				found = append(found, differences(join(path, selection), want[key], elements)...)
				continue
			}
			found = append(found, differences(join(path, key), want[key], fields[key])...)
		}
		return found
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			break
		}
		for i := range want {
			found = append(found, differences(fmt.Sprintf("%s[%d]", path, i), want[i], list[i])...)
		}
		return found
	default:
		if isEqual(want, got) {
			return nil
		}
	}
	return []Difference{{path, want, got}}
}

// join adds the name of a field to a path.
func join(path, key string) string {
	switch {
	case strings.ContainsAny(key, "./") && !strings.Contains(key, "[?"):
		return fmt.Sprintf("%s[%q]", path, key)
	case path == "":
		return key
	}
	return path + "." + key
}

// isEqual compares values. Numbers are equal whatever their type.
func isEqual(a, b any) bool {
	x, isNumber := number(a)
	y, isOther := number(b)
	if isNumber && isOther {
		return x == y
	}
	return reflect.DeepEqual(a, b)
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// At returns the value at a path of fields and indices, or nil.
func At(v any, path []any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := v.(map[string]any)
			v = fields[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// PathText returns a path of fields and indices as text.
func PathText(path []any) (text string) {
	for _, step := range path {
		if name, ok := step.(string); ok {
			text = join(text, name)
			continue
		}
		text += fmt.Sprintf("[%v]", step)
	}
	return text
}
