package base

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"
)

// Side is who wins where the base and the code were both changed.
type Side string

// The sides. Neither makes a conflict an error.
const (
	Neither Side = ""
	InBase  Side = "base"
	InCode  Side = "code"
)

// Conflict is a value that a person changed in the base while the code changed it, too.
type Conflict struct {
	File         string
	Line, Column int
	// Field is the value's path in the CSV.
	Field string
	// Base and Code are the two values; nothing where a side took it away.
	Base, Code any
}

// String shows both sides.
func (c Conflict) String() string {
	return fmt.Sprintf("%s: %s was changed by hand and in the code: the base has %s, the code gives %s",
		Finding{File: c.File, Line: c.Line, Column: c.Column, Message: ""}.place(), c.Field, show(c.Base), show(c.Code))
}

func (f Finding) place() string { return strings.TrimSuffix(f.String(), ": ") }

// Conflicts is the error of a base that cannot be merged.
type Conflicts []Conflict

// Error lists the conflicts, one a line, and says what can be done.
func (c Conflicts) Error() string {
	lines := make([]string, len(c), len(c)+1)
	for i, conflict := range c {
		lines[i] = conflict.String()
	}
	return strings.Join(append(lines, "make both alike, or choose with --prefer=base or --prefer=code; nothing was written"), "\n")
}

// show is a value in one line.
func show(value any) string {
	switch value := value.(type) {
	case nil:
		return "nothing"
	case string:
		return strconv.Quote(value)
	}
	data, err := sigsyaml.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return strings.Join(strings.Fields(string(data)), " ")
}

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

// keys tell the elements of a list apart, for the lists of an entry in which an element stands for itself.
var keys = map[string]func(map[string]any) string{
	"resources": func(m map[string]any) string {
		return text(m["kind"]) + "/" + text(m["version"]) + "/" + text(m["name"])
	},
	"specDescriptors":   func(m map[string]any) string { return text(m["path"]) },
	"statusDescriptors": func(m map[string]any) string { return text(m["path"]) },
}

// ofEntries and ofDescriptors are the fields that the code gives.
var (
	ofEntries     = []string{"description", "displayName", "kind", "name", "resources", "specDescriptors", "statusDescriptors", "version"}
	ofDescriptors = []string{"description", "displayName", "path", "x-descriptors"}
)

// identity are the fields that make an entry the one of a kind. The code knows them best.
var identity = []string{"kind", "name", "version"}

// entry merges an owned entry; at is its path in the base.
func (m *merger) entry(before, now, disk map[string]any, at []any) map[string]any {
	out := map[string]any{}
	for _, key := range union(before, now, disk) {
		here := append(slices.Clone(at), key)
		var merged any
		switch {
		case slices.Contains(identity, key):
			merged = now[key]
		case !slices.Contains(ofEntries, key):
			merged = disk[key]
		case keys[key] != nil:
			merged = m.list(keys[key], before[key], now[key], disk[key], here)
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
		if _, descriptor := disk["path"]; descriptor && !slices.Contains(ofDescriptors, key) {
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
	m.conflicts = append(m.conflicts, Conflict{File: m.from.name, Line: node.Line, Column: node.Column, Field: fieldName(at), Base: disk, Code: now})
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
		if !slices.Contains(ofEntries, key) {
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
		made := byKey(keys[list], now.entry[list])
		for path, descriptor := range byKey(keys[list], disk[list]).items {
			for key := range descriptor {
				if !slices.Contains(ofDescriptors, key) {
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
		now := byKey(keys[list], g.entry[list])
		items, _ := disk[list].([]any)
		items = slices.Clone(items)
		for i, item := range items {
			descriptor, ok := item.(map[string]any)
			made := now.items[text(descriptor["path"])]
			if ok && made != nil && descriptor["displayName"] != nil && g.derived[list+text(descriptor["path"])] {
				descriptor = maps.Clone(descriptor)
				descriptor["displayName"] = made["displayName"]
				items[i] = descriptor
			}
		}
		if items != nil {
			before[list] = items
		}
	}
	return before
}
