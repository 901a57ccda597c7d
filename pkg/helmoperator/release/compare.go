package release

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// A field is a field of an object, or with an empty path the existence of the object.
type field struct {
	key  key
	path []any // names and indexes
}

var plainName = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// String returns the field for messages, such as `Secret/my-db data.password`.
func (f field) String() string {
	if len(f.path) == 0 {
		return f.key.String()
	}
	return f.key.String() + " " + pathString(f.path)
}

// pathString returns a path for messages, such as `data.password`.
func pathString(steps []any) string {
	var path strings.Builder
	for _, step := range steps {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&path, "[%d]", step)
		case string:
			switch {
			case !plainName.MatchString(step):
				fmt.Fprintf(&path, "[%q]", step)
			case path.Len() == 0:
				path.WriteString(step)
			default:
				path.WriteString("." + step)
			}
		}
	}
	return path.String()
}

// covers reports whether a field is part of another one.
func (f field) covers(other field) bool {
	return f.key == other.key && len(f.path) <= len(other.path) && slices.Equal(f.path, other.path[:len(f.path)])
}

// fields is a sorted list of fields.
type fields []field

func (f fields) strings() []string {
	names := make([]string, len(f))
	for i, field := range f {
		names[i] = field.String()
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (f fields) cover(other field) bool {
	return slices.ContainsFunc(f, func(field field) bool { return field.covers(other) })
}

func differences(a, b *view) fields {
	var found fields
	for _, k := range a.keys {
		other, ok := b.objects[k]
		if !ok {
			found = append(found, field{key: k})
			continue
		}
		diffValues(a.objects[k].Object, other.Object, nil, func(path []any) {
			found = append(found, field{k, slices.Clone(path)})
		})
	}
	for _, k := range b.keys {
		if _, ok := a.objects[k]; !ok {
			found = append(found, field{key: k})
		}
	}
	return found
}

// diffValues calls found with the path of each difference. Lists of different lengths are one difference.
func diffValues(a, b any, path []any, found func(path []any)) {
	switch left := a.(type) {
	case map[string]any:
		right, ok := b.(map[string]any)
		if !ok {
			break
		}
		names := maps.Clone(left)
		maps.Copy(names, right)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			x, inLeft := left[name]
			y, inRight := right[name]
			if inLeft != inRight {
				found(append(path, name))
				continue
			}
			diffValues(x, y, append(path, name), found)
		}
		return
	case []any:
		right, ok := b.([]any)
		if !ok || len(left) != len(right) {
			break
		}
		for i := range left {
			diffValues(left[i], right[i], append(path, i), found)
		}
		return
	}
	if !reflect.DeepEqual(a, b) {
		found(path)
	}
}

// A group is the objects that one template renders of one kind.
type group struct {
	schema.GroupKind
	namespace, source string
}

// only returns the keys of a view that another does not have, by group.
func only(v, without *view) map[group][]key {
	groups := map[group][]key{}
	for _, k := range v.keys {
		if _, ok := without.objects[k]; !ok {
			g := group{k.GroupKind, k.namespace, v.sources[k]}
			groups[g] = append(groups[g], k)
		}
	}
	return groups
}

// alignNames gives objects whose name is not deterministic, such as a Job with a random suffix, the keys that they have in the
// base: the view of the deployed revision. An object has a random name if two renderings contain equally many objects like it under
// different names. Its name is then a field like others.
func alignNames(base, first, second *view) {
	inFirst, inSecond, inBase := only(first, second), only(second, first), only(base, first)
	for g, keys := range inFirst {
		others := inSecond[g]
		if len(others) != len(keys) {
			continue
		}
		targets := keys
		if deployed := inBase[g]; len(deployed) == len(keys) {
			targets = deployed
		}
		first.rename(keys, targets)
		second.rename(others, targets)
	}
}

func (v *view) rename(from, to []key) {
	if slices.Equal(from, to) {
		return
	}
	for i, k := range from {
		object, source := v.objects[k], v.sources[k]
		delete(v.objects, k)
		delete(v.sources, k)
		v.objects[to[i]], v.sources[to[i]] = object, source
		v.keys[slices.Index(v.keys, k)] = to[i]
		v.renamed[to[i]] = k
	}
}

// value returns the content of a field, and whether it exists.
func (v *view) value(f field) (any, bool) {
	object, ok := v.objects[f.key]
	if !ok {
		return nil, false
	}
	var value any = object.Object
	for _, step := range f.path {
		switch step := step.(type) {
		case string:
			fields, ok := value.(map[string]any)
			if !ok {
				return nil, false
			}
			if value, ok = fields[step]; !ok {
				return nil, false
			}
		case int:
			items, ok := value.([]any)
			if !ok || step >= len(items) {
				return nil, false
			}
			value = items[step]
		}
	}
	return value, true
}

func (v *view) replace(f field, content any) {
	last := len(f.path) - 1
	if _, ok := v.value(f); !ok || last < 0 {
		return
	}
	parent, _ := v.value(field{f.key, f.path[:last]})
	switch step := f.path[last].(type) {
	case string:
		parent.(map[string]any)[step] = content
	case int:
		parent.([]any)[step] = content
	}
}
