package base

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A Side is the source of a value that both the base and the code changed.
type Side string

// The sides. With Neither a conflict is an error.
const (
	Neither Side = ""
	InBase  Side = "base"
	InCode  Side = "code"
)

// A merger merges the owned entry of one kind.
type merger struct {
	from   *existing
	prefer Side
	// recorded reports whether the entry generated before is known. If not, values of one side only are kept, and
	// values of the base take precedence.
	recorded bool

	conflicts diag.Findings
	// kept lists the fields of the base that differ from the code.
	kept []string
}

// keyOf returns the function that identifies the elements of a list in an owned entry, nil for any other field.
func keyOf(field string) func(map[string]any) string {
	switch field {
	case "resources":
		return func(m map[string]any) string {
			return text(m["kind"]) + "/" + text(m["version"]) + "/" + text(m["name"])
		}
	case "specDescriptors", "statusDescriptors":
		return func(m map[string]any) string { return text(m["path"]) }
	}
	return nil
}

// isEntryField reports whether the code generates a field of an owned entry.
func isEntryField(field string) bool {
	return isIdentity(field) || field == "description" || field == "displayName" || keyOf(field) != nil
}

// isDescriptorField reports whether the code generates a field of a descriptor.
func isDescriptorField(field string) bool {
	return field == "description" || field == "displayName" || field == "path" || field == "x-descriptors"
}

// isIdentity reports whether a field identifies the kind of an entry. The code takes precedence for these.
func isIdentity(field string) bool { return field == "kind" || field == "name" || field == "version" }

// entry merges an owned entry; at is its path in the base.
func (m *merger) entry(before, now, disk map[string]any, at []any) map[string]any {
	out := map[string]any{}
	for _, key := range union(before, now, disk) {
		here := append(slices.Clone(at), key)
		var merged any
		switch {
		case isIdentity(key):
			merged = now[key]
		case !isEntryField(key):
			merged = disk[key]
		case keyOf(key) != nil:
			merged = m.list(keyOf(key), before[key], now[key], disk[key], here)
		default:
			merged = m.value(before[key], now[key], disk[key], here)
		}
		if merged != nil {
			out[key] = merged
		}
	}
	return out
}

// list merges lists whose elements have keys: first the code's elements in its order, then elements that only the base has.
func (m *merger) list(key func(map[string]any) string, before, now, disk any, at []any) any {
	b, n, d := byKey(key, before), byKey(key, now), byKey(key, disk)
	var out []any
	for _, k := range n.order {
		if i, ok := d.index[k]; ok {
			if item := m.fields(b.items[k], n.items[k], d.items[k], append(slices.Clone(at), i)); item != nil {
				out = append(out, item)
			}
		} else if b.items[k] == nil || !reflect.DeepEqual(b.items[k], n.items[k]) {
			out = append(out, n.items[k])
		}
		// Otherwise it was removed from the base and has not changed in the code.
	}
	for _, k := range d.order {
		if n.items[k] != nil {
			continue
		}
		here := append(slices.Clone(at), d.index[k])
		if b.items[k] == nil {
			if !m.recorded {
				m.kept = append(m.kept, fmt.Sprintf("%v %s", at[len(at)-1], k))
			}
			out = append(out, d.items[k])
		} else if !reflect.DeepEqual(b.items[k], d.items[k]) {
			if kept := m.conflict(nil, d.items[k], here); kept != nil {
				out = append(out, kept)
			}
		}
	}
	if out == nil {
		return nil
	}
	return out
}

// fields merges two elements field by field.
func (m *merger) fields(before, now, disk map[string]any, at []any) map[string]any {
	out := map[string]any{}
	for _, key := range union(before, now, disk) {
		if _, descriptor := disk["path"]; descriptor && !isDescriptorField(key) {
			out[key] = disk[key]
			continue
		}
		if merged := m.value(before[key], now[key], disk[key], append(slices.Clone(at), key)); merged != nil {
			out[key] = merged
		}
	}
	return out
}

func (m *merger) value(before, now, disk any, at []any) any {
	switch {
	case reflect.DeepEqual(now, disk):
		return now
	case !m.recorded && disk == nil:
		return now
	case !m.recorded:
		m.kept = append(m.kept, fieldName(at))
		return disk
	case reflect.DeepEqual(disk, before):
		return now
	case reflect.DeepEqual(now, before):
		return disk
	}
	return m.conflict(now, disk, at)
}

func (m *merger) conflict(now, disk any, at []any) any {
	switch m.prefer {
	case InBase:
		return disk
	case InCode:
		return now
	}
	node := m.from.root
	for n := len(at); n > 0; n-- {
		if found := m.from.find(at[:n]...); found != nil {
			node = found
			break
		}
	}
	m.conflicts = append(m.conflicts, diag.Finding{
		Position: m.from.place(node),
		Problem: fmt.Sprintf("%s was edited in the base and changed in the code: base %s, code %s",
			fieldName(at), formatValue(disk), formatValue(now)),
	})
	return disk
}

// fieldName formats a path as spec.owned[0].kind.
func fieldName(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// union returns the keys of all maps, sorted.
func union(all ...map[string]any) []string {
	keys := map[string]any{}
	for _, m := range all {
		maps.Copy(keys, m)
	}
	return slices.Sorted(maps.Keys(keys))
}

type keyed struct {
	order []string
	items map[string]map[string]any
	index map[string]int
}

func byKey(key func(map[string]any) string, list any) keyed {
	k := keyed{items: map[string]map[string]any{}, index: map[string]int{}}
	items, _ := list.([]any)
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		name := key(m)
		for n := 2; k.items[name] != nil; n++ {
			name = fmt.Sprintf("%s#%d", key(m), n) // elements with equal keys are paired in order
		}
		k.order, k.items[name], k.index[name] = append(k.order, name), m, i
	}
	return k
}

// isEdited reports whether an owned entry has values that no code generates: other differences are then more likely edits
// than outdated values.
func isEdited(now generated, disk map[string]any) bool {
	for key := range disk {
		if !isEntryField(key) {
			return true
		}
	}
	docs := map[string]map[string]string{"specDescriptors": {}, "statusDescriptors": {}}
	for _, field := range now.api.Spec {
		docs["specDescriptors"][field.Path] = field.Doc
	}
	for _, field := range now.api.Status {
		docs["statusDescriptors"][field.Path] = field.Doc
	}
	for list, fields := range docs {
		made := byKey(keyOf(list), now.entry[list])
		for path, descriptor := range byKey(keyOf(list), disk[list]).items {
			for key := range descriptor {
				if !isDescriptorField(key) {
					return true
				}
			}
			// The field may have lost its marker, but then its description is the comment.
			if doc, ok := fields[path]; ok && made.items[path] == nil && text(descriptor["description"]) != doc {
				return true
			}
		}
	}
	return false
}

// withDerivedNames estimates what the code generated before: the entry of the base, but with the derived display names of
// the code, so that edited ones count as edits of the base.
func (g generated) withDerivedNames(disk map[string]any) map[string]any {
	before := maps.Clone(disk)
	if g.derived[""] && disk["displayName"] != nil {
		before["displayName"] = g.entry["displayName"]
	}
	for _, list := range []string{"specDescriptors", "statusDescriptors"} {
		now := byKey(keyOf(list), g.entry[list])
		items, _ := disk[list].([]any)
		items = slices.Clone(items)
		there := byKey(keyOf(list), disk[list])
		for key, descriptor := range there.items {
			// Repeated paths are compared in order.
			if now.items[key] != nil && descriptor["displayName"] != nil && g.derived[list+text(descriptor["path"])] {
				descriptor = maps.Clone(descriptor)
				descriptor["displayName"] = now.items[key]["displayName"]
				items[there.index[key]] = descriptor
			}
		}
		if items != nil {
			before[list] = items
		}
	}
	return before
}
