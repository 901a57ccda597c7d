// Package base makes the base of a ClusterServiceVersion: what people say about their operator, and what the
// markers in its API types tell about its kinds.
package base

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Options say what a base is made of.
type Options struct {
	// Package is the name of the operator's package. Required.
	Package string
	// Name and Base are the file that holds the base, and its content; nil where there is none yet.
	Name string
	Base []byte
	// Metadata is what to set.
	Metadata Metadata
	// Replaces and SkipRange say what the next bundle is an upgrade of; empty leaves the base as it is.
	Replaces, SkipRange string
	// Kinds are those to describe, of all Known ones of the project, and APIs the types in its code.
	Kinds, Known []Kind
	APIs         []codegen.API
	// Record is what Result.Record was when Base was written, nil where that is not known.
	Record []byte
	// Prefer settles conflicts between the base and the code.
	Prefer Side
}

// Result is a base.
type Result struct {
	// CSV is the content of the file.
	CSV []byte
	// Record is to be kept for the next time; nil where the code gave nothing.
	Record []byte
	// Edited tells that the base describes kinds otherwise than the code: then the record is needed for the next
	// time, since the base alone does not tell what was changed by hand.
	Edited bool
	// Notes tell of kinds that the code does not have, and of values in which base and code differ for a reason
	// that is not known.
	Notes []string
}

// record is the form of Result.Record.
type record struct {
	Owned []map[string]any `json:"owned"`
}

// Make makes a base. A base that is wrong is returned as manifest.Problems, one that was changed by hand where the
// code changed as Conflicts.
func Make(o Options) (*Result, error) {
	from := &existing{name: o.Name, csv: Fresh(o.Package)}
	if o.Base != nil {
		var err error
		if from, err = read(o.Name, o.Base); err != nil {
			return nil, err
		}
	}
	csv := from.csv
	metadata := mapIn(csv, "metadata")
	spec := mapIn(csv, "spec")
	if text(metadata["name"]) == o.Package+".vX.Y.Z" { // what operator-sdk called bases once; no version has that form
		metadata["name"] = o.Package + ".v" + text(spec["version"])
	}
	o.Metadata.apply(spec)
	if o.Replaces != "" {
		spec["replaces"] = o.Replaces
	}
	if o.SkipRange != "" {
		mapIn(metadata, "annotations")["olm.skipRange"] = o.SkipRange
	}

	before, err := readRecord(o.Record)
	if err != nil {
		return nil, err
	}
	result := &Result{}
	made := result.made(o)
	definitions := mapIn(spec, "customresourcedefinitions")
	if err := result.merge(o, from, definitions, made, before); err != nil {
		return nil, err
	}
	if len(made) > 0 || len(before) > 0 && len(o.Known) == 0 {
		r := record{Owned: []map[string]any{}}
		for _, one := range made {
			r.Owned = append(r.Owned, describe(one.api).entry)
		}
		slices.SortStableFunc(r.Owned, func(a, b map[string]any) int {
			return strings.Compare(fmt.Sprint(kindOf(a)), fmt.Sprint(kindOf(b)))
		})
		if result.Record, err = sigsyaml.Marshal(r); err != nil {
			return nil, err
		}
	}
	if result.CSV, err = manifest.Encode(csv); err != nil {
		return nil, err
	}
	result.CSV = manifest.KeepComments(o.Base, result.CSV)
	return result, nil
}

// mapIn is a mapping in another, made where it is missing.
func mapIn(m map[string]any, key string) map[string]any {
	inner, ok := m[key].(map[string]any)
	if !ok {
		inner = map[string]any{}
		m[key] = inner
	}
	return inner
}

// CheckRecord tells whether a record can be read.
func CheckRecord(data []byte) error {
	_, err := readRecord(data)
	return err
}

func readRecord(data []byte) (map[Kind]map[string]any, error) {
	var r record
	if err := safeyaml.UnmarshalJSON(data, &r); err != nil {
		return nil, fmt.Errorf("reading the record of what the code gave for the base: %w", err)
	}
	entries := map[Kind]map[string]any{}
	for _, entry := range r.Owned {
		entries[kindOf(entry)] = entry
	}
	return entries, nil
}

// made describes the kinds of the project that the code has.
func (r *Result) made(o Options) []generated {
	var made []generated
	for _, kind := range o.Kinds {
		i := slices.IndexFunc(o.APIs, func(api codegen.API) bool {
			return KindOf(api) == kind
		})
		if i < 0 {
			r.Notes = append(r.Notes, missing(kind, o.APIs))
			continue
		}
		made = append(made, describe(o.APIs[i]))
	}
	return made
}

// missing says why a kind of the project has no description.
func missing(kind Kind, apis []codegen.API) string {
	said := fmt.Sprintf("%s/%s %s of PROJECT is left out: ", kind.Group, kind.Version, kind.Kind)
	for _, api := range apis {
		switch {
		case api.Kind != kind.Kind:
		case api.Group == "":
			return said + fmt.Sprintf("%s: the package of its type has no marker +groupName=%s", api.Position.File, kind.Group)
		case api.Group != kind.Group:
			return said + fmt.Sprintf("%s: the package of its type says +groupName=%s", api.Position.File, api.Group)
		default:
			return said + fmt.Sprintf("%s: its type is of version %s", api.Position.File, api.Version)
		}
	}
	return said + fmt.Sprintf("no Go type %s was found", kind.Kind)
}

// merge brings the owned entries up to date.
func (r *Result) merge(o Options, from *existing, definitions map[string]any, made []generated, before map[Kind]map[string]any) error {
	index := map[Kind]int{}
	for i, one := range made {
		index[KindOf(one.api)] = i
	}
	var conflicts Conflicts
	others := map[int]map[string]any{}
	merged := map[int]bool{}
	owned, _ := definitions["owned"].([]any)
	for i, item := range owned {
		disk, ok := item.(map[string]any)
		if !ok {
			continue
		}
		kind := kindOf(disk)
		n, known := index[kind]
		if !known {
			if before[kind] != nil && reflect.DeepEqual(before[kind], disk) && !slices.Contains(o.Known, kind) {
				r.Notes = append(r.Notes, fmt.Sprintf("%s/%s %s is taken out of %s, as the project does not have it any more", kind.Group, kind.Version, kind.Kind, from.name))
				continue
			}
			others[i] = disk
			continue
		}
		if merged[n] {
			continue
		}
		merged[n] = true
		m := &merger{from: from, prefer: o.Prefer, recorded: before[kind] != nil}
		last := before[kind]
		switch {
		case m.recorded:
		case o.Prefer == InCode, o.Prefer == Neither && !byHand(made[n], disk):
			// Nothing but names of its own speaks for changes by hand.
			m.recorded, last = true, made[n].named(disk)
		}
		now := made[n].entry
		made[n].entry = m.entry(last, now, disk, []any{"spec", "customresourcedefinitions", "owned", i})
		conflicts = append(conflicts, m.conflicts...)
		r.Edited = r.Edited || !reflect.DeepEqual(made[n].entry, now)
		r.note(kind, m, now, disk, made[n].entry, before[kind] != nil || o.Prefer != Neither)
	}
	if len(conflicts) > 0 {
		return conflicts
	}
	setOrDrop(definitions, "owned", arrange(made, others))
	return nil
}

// note tells of differences whose origin is not known.
func (r *Result) note(kind Kind, m *merger, now, disk, merged map[string]any, known bool) {
	name := fmt.Sprintf("%s/%s %s", kind.Group, kind.Version, kind.Kind)
	if len(m.kept) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s in %s: kept what the base has and the code gives otherwise or not: %s; --prefer=code takes the code's",
			name, m.from.name, strings.Join(m.kept, ", ")))
	}
	if known || len(m.kept) > 0 {
		return
	}
	var changed []string
	for _, key := range []string{"displayName", "description"} {
		if disk[key] != nil && text(disk[key]) != text(now[key]) && text(merged[key]) == text(now[key]) {
			changed = append(changed, fmt.Sprintf("%s, which was %s", key, show(disk[key])))
		}
	}
	if len(changed) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s in %s: brought up to date with the code: %s; --prefer=base keeps what the base has", name, m.from.name, strings.Join(changed, ", ")))
	}
}
