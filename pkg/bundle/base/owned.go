package base

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/operon-sdk/operon/pkg/codegen"
)

// A Kind identifies a kind of an API.
type Kind struct{ Group, Version, Kind string }

// KindOf returns the kind that a type declares.
func KindOf(api codegen.API) Kind { return Kind{api.Group, api.Version, api.Kind} }

func kindOf(entry map[string]any) Kind {
	name := text(entry["name"])
	if _, group, ok := strings.Cut(name, "."); ok {
		name = group
	}
	return Kind{Group: name, Version: text(entry["version"]), Kind: text(entry["kind"])}
}

// A generated is an owned entry from the code.
type generated struct {
	api   codegen.API
	entry map[string]any
	order int
	// derived reports the display names that no marker gives: of the kind by "", of fields by list and path.
	derived map[string]bool
}

// describe returns the owned entry of a kind.
func describe(api codegen.API) generated {
	entry := map[string]any{
		"displayName": DisplayName(api.Kind),
		"kind":        api.Kind,
		"name":        api.Plural + "." + api.Group,
		"version":     api.Version,
	}
	if api.Doc != "" {
		entry["description"] = api.Doc
	}
	g := generated{api: api, entry: entry, order: math.MaxInt32, derived: map[string]bool{"": true}}
	var resources []any
	for _, m := range api.Markers {
		if m.Order != nil {
			g.order = *m.Order
		}
		if m.DisplayName != "" {
			entry["displayName"], g.derived[""] = m.DisplayName, false
		}
		for _, r := range m.Resources {
			resource := map[string]any{"kind": strings.TrimSpace(r[0]), "version": strings.TrimSpace(r[1]), "name": ""}
			if len(r) == 3 {
				resource["name"] = strings.TrimSpace(r[2])
			}
			resources = append(resources, resource)
		}
	}
	slices.SortStableFunc(resources, compareResources)
	for key, list := range map[string][]any{
		"resources":         resources,
		"specDescriptors":   g.descriptors(api.Spec, "spec"),
		"statusDescriptors": g.descriptors(api.Status, "status"),
	} {
		setOrDelete(entry, key, list)
	}
	return g
}

func compareResources(a, b any) int {
	x, y := a.(map[string]any), b.(map[string]any)
	return cmp.Or(
		strings.Compare(text(x["name"]), text(y["name"])),
		strings.Compare(text(x["kind"]), text(y["kind"])),
		version.CompareKubeAwareVersionStrings(text(y["version"]), text(x["version"])),
	)
}

// descriptors returns the descriptors of the fields with a marker of a type.
func (g *generated) descriptors(fields []codegen.APIField, kind string) []any {
	type ordered struct {
		order      int
		descriptor map[string]any
	}
	var list []ordered
	for _, field := range fields {
		one := ordered{order: math.MaxInt, descriptor: map[string]any{"path": field.Path}}
		marked := false
		var display string
		var x []any
		for _, m := range field.Markers {
			if m.Type != kind {
				continue
			}
			marked = true
			if m.Order != nil {
				one.order = *m.Order
			}
			if m.Path != "" {
				one.descriptor["path"] = m.Path
			}
			display = cmp.Or(display, m.DisplayName)
			for _, descriptor := range m.XDescriptors {
				x = append(x, descriptor)
			}
		}
		if !marked {
			continue
		}
		g.derived[kind+"Descriptors"+text(one.descriptor["path"])] = display == ""
		if display = cmp.Or(display, DisplayName(field.Name)); display != "" {
			one.descriptor["displayName"] = display
		}
		if field.Doc != "" {
			one.descriptor["description"] = field.Doc
		}
		setOrDelete(one.descriptor, "x-descriptors", x)
		list = append(list, one)
	}
	slices.SortStableFunc(list, func(a, b ordered) int {
		return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(text(a.descriptor["path"]), text(b.descriptor["path"])))
	})
	var out []any
	for _, one := range list {
		out = append(out, one.descriptor)
	}
	return out
}

// sortEntries sorts the code's entries and the entries that only the base has: by the order in markers, or the index in the base;
// then by name, kind and version, newest first.
func sortEntries(made []generated, others map[int]map[string]any) []any {
	slices.SortStableFunc(made, func(a, b generated) int {
		return cmp.Or(
			cmp.Compare(a.order, b.order),
			strings.Compare(text(a.entry["name"]), text(b.entry["name"])),
			strings.Compare(a.api.Kind, b.api.Kind),
			version.CompareKubeAwareVersionStrings(b.api.Version, a.api.Version),
		)
	})
	buckets := map[int][]any{}
	for _, one := range made {
		buckets[one.order] = append(buckets[one.order], one.entry)
	}
	for i, entry := range others {
		buckets[i] = append(buckets[i], entry)
	}
	var list []any
	for _, order := range slices.Sorted(maps.Keys(buckets)) {
		list = append(list, buckets[order]...)
	}
	return list
}
