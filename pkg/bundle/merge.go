package bundle

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// An Edit is an edited value that a bundle keeps instead of the generated one.
type Edit struct {
	File string   `json:"file"`
	Path []string `json:"path"`
	// Generated is the value that the edit replaces, nil if none is generated.
	Generated any `json:"generated"`
}

// ParseEdits reads the edits of a record: {"edits": […]}.
func ParseEdits(data []byte) ([]Edit, error) {
	var record struct {
		Edits []Edit `json:"edits"`
	}
	// The Kubernetes decoder keeps integers as integers.
	if err := utiljson.Unmarshal(data, &record); err != nil {
		return nil, err
	}
	return record.Edits, nil
}

// missing marks an absent value.
type missing struct{}

// A merger merges one file.
type merger struct {
	file string
	// known reports whether the previously generated content is known. Without it only additions are recognized.
	known bool
	edits map[string]Edit
	// conflicts are the values that were edited in the bundle and are also generated differently now.
	conflicts diag.Findings
	kept      []Edit
	// additive reports whether a value that only the file has at a path is an addition of the user, if the
	// previously generated content is unknown.
	additive func(path []string) bool
}

// merge merges the values of a path: generated before, generated now and in the file. Mappings are merged by key and lists
// of named items by name; any other value is replaced as one.
func (m *merger) merge(path []string, before, now, disk any) any {
	if reflect.DeepEqual(now, disk) {
		return now
	}
	b, bOK := asMap(before)
	n, nOK := asMap(now)
	d, dOK := asMap(disk)
	if nOK && dOK && (bOK || before == (missing{})) {
		return m.mergeMaps(path, b, n, d)
	}
	if merged, ok := m.mergeNamed(path, before, now, disk); ok {
		return merged
	}
	return m.mergeValue(path, before, now, disk)
}

func (m *merger) mergeMaps(path []string, before, now, disk map[string]any) any {
	keys := map[string]bool{}
	for _, side := range []map[string]any{before, now, disk} {
		for key := range side {
			keys[key] = true
		}
	}
	merged := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		value := m.merge(append(slices.Clone(path), key), lookup(before, key), lookup(now, key), lookup(disk, key))
		if value != (any)(missing{}) {
			merged[key] = value
		}
	}
	return merged
}

// mergeNamed merges lists whose items all have names, in generated order; added items follow.
func (m *merger) mergeNamed(path []string, before, now, disk any) (any, bool) {
	n, _, nOK := byName(now)
	d, order, dOK := byName(disk)
	b, _, bOK := byName(before)
	if !nOK || !dOK || !bOK || len(n)+len(d) == 0 {
		return nil, false
	}
	var names []string
	if list, ok := now.([]any); ok {
		for _, item := range list {
			names = append(names, nameOf(item))
		}
	}
	for _, name := range order {
		if _, ok := n[name]; !ok {
			names = append(names, name)
		}
	}
	var merged []any
	for _, name := range names {
		value := m.merge(append(slices.Clone(path), name), lookup(b, name), lookup(n, name), lookup(d, name))
		if value != (any)(missing{}) {
			merged = append(merged, value)
		}
	}
	if len(merged) == 0 {
		return missing{}, true
	}
	return merged, true
}

// byName returns the items of a list by name; ok is false if names are missing or not unique.
func byName(v any) (items map[string]any, order []string, ok bool) {
	if v == (any)(missing{}) || v == nil {
		return nil, nil, true
	}
	list, ok := v.([]any)
	if !ok {
		return nil, nil, false
	}
	items = map[string]any{}
	for _, item := range list {
		name := nameOf(item)
		if _, twice := items[name]; name == "" || twice {
			return nil, nil, false
		}
		items[name] = item
		order = append(order, name)
	}
	return items, order, true
}

func nameOf(item any) string {
	fields, _ := item.(map[string]any)
	name, _ := fields["name"].(string)
	return name
}

// mergeValue merges a value as one. If the previously generated content is unknown, a recorded edit replaces it.
func (m *merger) mergeValue(path []string, before, now, disk any) any {
	if !m.known {
		edit, ok := m.edits[pathKey(path)]
		if !ok {
			return m.mergeUnknown(path, now, disk)
		}
		if before = edit.Generated; before == nil {
			before = missing{}
		}
	}
	switch {
	case reflect.DeepEqual(before, disk): // not edited, or the edit was reverted
		return now
	case reflect.DeepEqual(before, now):
		m.keep(path, now)
		return disk
	}
	m.conflict(path, before, now, disk)
	return now
}

// mergeUnknown merges without previously generated content: additions stay, any other value is the generated one.
func (m *merger) mergeUnknown(path []string, now, disk any) any {
	if now == (any)(missing{}) && m.additive != nil && m.additive(path) {
		return disk
	}
	return now
}

// keep records an edit that replaces a generated value. Additions need no record.
func (m *merger) keep(path []string, generated any) {
	edit := Edit{File: m.file, Path: slices.Clone(path), Generated: generated}
	if generated == (any)(missing{}) {
		if m.additive != nil && m.additive(path) {
			return
		}
		edit.Generated = nil
	}
	m.kept = append(m.kept, edit)
}

func (m *merger) conflict(path []string, before, now, disk any) {
	field := manifest.FieldPath(path)
	conflict := diag.Finding{Position: diag.Position{File: m.file}, Field: field, Problem: field + " was edited and is also generated differently now"}
	for _, side := range []struct {
		name  string
		value any
	}{{"edited:", disk}, {"generated now:", now}, {"generated before:", before}} {
		value := show(side.value)
		conflict.Related = append(conflict.Related, diag.Finding{Problem: side.name + " " + value, Listed: fmt.Sprintf("    %-17s %s", side.name, value)})
	}
	m.conflicts = append(m.conflicts, conflict)
}

// show returns a value as text, indented if it has several lines.
func show(v any) string {
	if v == (any)(missing{}) {
		return "nothing"
	}
	data, err := manifest.Encode(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	text := strings.TrimRight(string(data), "\n")
	switch {
	case text == "":
		return "nothing"
	case strings.Contains(text, "\n"):
		return "\n" + indent(text, "      ")
	}
	return text
}

func indent(s, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+by)
}

func asMap(v any) (map[string]any, bool) {
	m, ok := v.(map[string]any)
	return m, ok
}

func lookup(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return missing{}
}

// pathKey returns a path as a map key.
func pathKey(path []string) string { return strings.Join(path, "\x00") }
