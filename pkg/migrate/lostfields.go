package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A step is an element of a path in an object: a field, or a list item by name and index.
type step struct {
	name  string
	item  bool
	index int
	// text is printed for an item instead of its name, unless it is "".
	text string
}

// pathText returns a path as it is printed.
func pathText(path []step) string {
	var b strings.Builder
	for i, s := range path {
		switch {
		case s.text != "":
			b.WriteString("[" + s.text + "]")
		case s.item && strings.HasPrefix(s.name, "map["):
			fmt.Fprintf(&b, "[%d]", s.index)
		case s.item:
			b.WriteString("[" + s.name + "]")
		case i > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// lostFields returns the paths of fields and list items that a value no longer has. Changed values do not count.
func lostFields(at []step, before, after any) [][]step {
	var lost [][]step
	switch before := before.(type) {
	case map[string]any:
		after, ok := after.(map[string]any)
		if !ok {
			return [][]step{at}
		}
		for _, key := range slices.Sorted(maps.Keys(before)) {
			field := append(slices.Clip(at), step{name: key})
			if value, ok := after[key]; ok && len(at) == 0 && key == "rules" && isRole(before) {
				lost = append(lost, lostPermissions(field, before[key], value)...)
			} else if ok {
				lost = append(lost, lostFields(field, before[key], value)...)
			} else {
				lost = append(lost, field)
			}
		}
	case []any:
		after, _ := after.([]any)
		for n, value := range before {
			name := itemName(value)
			item := append(slices.Clip(at), step{name: name, item: true, index: n})
			i := slices.IndexFunc(after, func(other any) bool { return itemName(other) == name })
			if i < 0 && strings.HasPrefix(name, "map[") && n < len(after) {
				i = n // changed rather than removed
			}
			if i < 0 {
				lost = append(lost, item)
			} else {
				lost = append(lost, lostFields(item, value, after[i])...)
			}
		}
	}
	return lost
}

// isRole reports whether an object has the rules of a role.
func isRole(object map[string]any) bool {
	return object["kind"] == "Role" || object["kind"] == "ClusterRole"
}

// itemName returns a name that identifies an item of a list.
func itemName(item any) string {
	if fields, ok := item.(map[string]any); ok {
		for _, key := range []string{"name", "key", "containerPort"} {
			if value, ok := fields[key]; ok {
				return fmt.Sprint(value)
			}
		}
	}
	text := fmt.Sprint(item)
	if flag, _, ok := strings.Cut(text, "="); ok && strings.HasPrefix(flag, "--") {
		return flag
	}
	return text
}
