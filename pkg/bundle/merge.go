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

// Conflict is a value that a person edited in the bundle and that is generated differently now.
type Conflict struct {
	// File is relative to the project; Field is the value's path or key.
	File, Field string
	// Before and Now are what was and is generated, Disk is what the file has; empty where there is
	// nothing.
	Before, Now, Disk string
}

func (c Conflict) Error() string {
	side := func(s string) string {
		if s == "" {
			return "nothing"
		}
		if strings.Contains(s, "\n") {
			return "\n" + indent(s, "      ")
		}
		return s
	}
	return fmt.Sprintf("%s: %s was edited by hand and is generated differently now\n    edited:           %s\n    generated now:    %s\n    generated before: %s",
		c.File, c.Field, side(c.Disk), side(c.Now), side(c.Before))
}

func indent(s, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+by)
}

// Conflicts are all conflicts of one bundle.
type Conflicts []Conflict

func (c Conflicts) Error() string {
	lines := make([]string, 0, len(c)+1)
	for _, one := range c {
		lines = append(lines, one.Error())
	}
	return strings.Join(lines, "\n") +
		"\nnothing was written; to keep the edit, write it where the value is generated from (the base CSV, a manifest or a flag); to drop it, put the value generated before back into the file"
}

// Unwrap returns the conflicts.
func (c Conflicts) Unwrap() []error { return diag.Errors(c) }

// Edit is a value of a person that a bundle keeps instead of the one that is generated.
type Edit struct {
	File string   `json:"file"`
	Path []string `json:"path"`
	// Generated is the value that the edit stands in for, nil where none is generated.
	Generated any `json:"generated"`
}

// ParseEdits reads the edits of a record: {"edits": […]}.
func ParseEdits(data []byte) ([]Edit, error) {
	var record struct {
		Edits []Edit `json:"edits"`
	}
	// Kubernetes' decoder keeps integers as they are.
	if err := utiljson.Unmarshal(data, &record); err != nil {
		return nil, err
	}
	return record.Edits, nil
}

// missing stands for a field that is not there.
type missing struct{}

// merger merges one file.
type merger struct {
	file string
	// before knows what was generated; without, only additions of a person can be told.
	known     bool
	edits     map[string]Edit
	conflicts Conflicts
	kept      []Edit
	// additive tells whether something at a path that only the disk has is a person's, when it is not
	// known what was generated before.
	additive func(path []string) bool
}

// merge gives the value for a path from what was generated before, what is generated now and what the
// file has. Mappings are merged key by key, lists of named items item by item, all else is a whole.
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
	return m.mergeWhole(path, before, now, disk)
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
		value := m.merge(append(slices.Clone(path), key), get(before, key), get(now, key), get(disk, key))
		if value != (any)(missing{}) {
			merged[key] = value
		}
	}
	return merged
}

// mergeNamed merges lists whose items all have names, in the order of what is generated; items of a
// person come after it.
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
		value := m.merge(append(slices.Clone(path), name), get(b, name), get(n, name), get(d, name))
		if value != (any)(missing{}) {
			merged = append(merged, value)
		}
	}
	if len(merged) == 0 {
		return missing{}, true
	}
	return merged, true
}

// byName gives the items of a list by their names, if each has one of its own.
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

// mergeWhole decides for a value that cannot be taken apart. Where it is not known what was generated before,
// a recorded edit tells.
func (m *merger) mergeWhole(path []string, before, now, disk any) any {
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
	case reflect.DeepEqual(before, disk): // nothing was edited, or the edit was taken back
		return now
	case reflect.DeepEqual(before, now):
		m.keep(path, now)
		return disk
	}
	m.conflict(path, before, now, disk)
	return now
}

// mergeUnknown decides without knowing what was generated before: what only the disk has stays where people
// add things; else what is generated now is right.
func (m *merger) mergeUnknown(path []string, now, disk any) any {
	if now == (any)(missing{}) && m.additive != nil && m.additive(path) {
		return disk
	}
	return now
}

// keep records an edit that stands in for something generated; additions are found again without.
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
	m.conflicts = append(m.conflicts, Conflict{
		File: m.file, Field: manifest.FieldPath(path), Before: show(before), Now: show(now), Disk: show(disk),
	})
}

func show(v any) string {
	if v == (any)(missing{}) {
		return ""
	}
	data, err := manifest.Encode(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimRight(string(data), "\n")
}

func asMap(v any) (map[string]any, bool) {
	m, ok := v.(map[string]any)
	return m, ok
}

func get(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return missing{}
}

// pathKey is a path as a key of a map.
func pathKey(path []string) string { return strings.Join(path, "\x00") }
