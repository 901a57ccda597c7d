package base

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Side is who wins where the base and the code were both changed.
type Side string

// The sides. Neither makes a conflict an error.
const (
	Neither Side = ""
	InBase  Side = "base"
	InCode  Side = "code"
)

// merger merges the owned entry of one kind.
type merger struct {
	from   *existing
	prefer Side
	// before is what the code gave when the base was last written. Where that is not known, what only one side
	// has is taken, and what the base has wins.
	recorded bool

	conflicts Conflicts
	// kept are the fields in which the base was preferred to the code.
	kept []string
}

// keyOf tells the elements of a list apart, for the lists of an entry in which an element stands for itself. It is
// nil for every other field.
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

// ofEntries tells the fields of an owned entry that the code gives.
func ofEntries(field string) bool {
	return identifies(field) || field == "description" || field == "displayName" || keyOf(field) != nil
}

// ofDescriptors tells the fields of a descriptor that the code gives.
func ofDescriptors(field string) bool {
	return field == "description" || field == "displayName" || field == "path" || field == "x-descriptors"
}

// identifies tells the fields that make an entry the one of a kind. The code knows them best.
func identifies(field string) bool { return field == "kind" || field == "name" || field == "version" }

// entry merges an owned entry; at is its path in the base.
func (m *merger) entry(before, now, disk map[string]any, at []any) map[string]any {
	out := map[string]any{}
	for _, key := range union(before, now, disk) {
		here := append(slices.Clone(at), key)
		var merged any
		switch {
		case identifies(key):
			merged = now[key]
		case !ofEntries(key):
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

// list merges lists whose elements have keys: in the order of the code, then what only the base has.
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
		// Otherwise it was taken out by hand, and the code has nothing new to say.
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
		if _, descriptor := disk["path"]; descriptor && !ofDescriptors(key) {
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
	m.conflicts = append(m.conflicts, Conflict{Position: m.from.place(node), Field: fieldName(at), Base: disk, Code: now})
	return disk
}

// fieldName writes a path as spec.owned[0].kind.
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

func union(maps ...map[string]any) []string {
	var names []string
	for _, m := range maps {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
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
			name = fmt.Sprintf("%s#%d", key(m), n) // the same key again: its elements are paired in their order
		}
		k.order, k.items[name], k.index[name] = append(k.order, name), m, i
	}
	return k
}

// byHand tells that an owned entry holds what no code ever gave: then a difference to the code is rather
// the work of a person than a sign of age.
func byHand(now generated, disk map[string]any) bool {
	for key := range disk {
		if !ofEntries(key) {
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
				if !ofDescriptors(key) {
					return true
				}
			}
			// A field without a marker may have had one once, but then its comment came along.
			if doc, ok := fields[path]; ok && made.items[path] == nil && text(descriptor["description"]) != doc {
				return true
			}
		}
	}
	return false
}

// named is what the code may have given before, as far as an entry of the base tells: the entry, but for names
// that differ from those which the code derives. Whoever wants such a name writes it here.
func (g generated) named(disk map[string]any) map[string]any {
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
			// Where a path is there twice, each is compared with its like.
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
