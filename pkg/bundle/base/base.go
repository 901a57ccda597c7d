// Package base generates the base of a ClusterServiceVersion (CSV) from the metadata of an operator and the markers of
// its API types. Generate merges both with an existing base; Check validates one.
package base

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Options configures Generate.
type Options struct {
	// Package is the name of the operator's package. It is required.
	Package string
	// Name is the path of the base in messages, Base its content; nil if there is none.
	Name string
	Base []byte
	// Metadata is the metadata to set.
	Metadata Metadata
	// Replaces and SkipRange are the upgrade edges of the next bundle; empty keeps what the base has.
	Replaces, SkipRange string
	// Kinds lists the kinds to describe, Known all kinds of the project, and APIs the types in its code.
	Kinds, Known []Kind
	APIs         []codegen.API
	// Record is the Result.Record of when Base was written, nil if unknown.
	Record []byte
	// Prefer resolves conflicts between the base and the code.
	Prefer Side
}

// Result is a generated base.
type Result struct {
	// CSV is the content of the file.
	CSV []byte
	// Record is the Options.Record of the next call; nil if the code describes no kind.
	Record []byte
	// Edited reports whether the base describes kinds differently from the code. Only the record can then distinguish
	// edits from outdated values.
	Edited bool
	// Notes lists kinds that the code lacks, and differences between base and code of unknown origin.
	Notes []string
}

// A record is the format of Result.Record.
type record struct {
	Owned []map[string]any `json:"owned"`
}

// Generate generates a base. The error is a diag.Findings if the base is invalid, and Conflicts if the base was edited
// where the code changed.
func Generate(o Options) (*Result, error) {
	from := &existing{name: o.Name, csv: NewCSV(o.Package)}
	if o.Base != nil {
		var err error
		if from, err = read(o.Name, o.Base); err != nil {
			return nil, err
		}
	}
	csv := from.csv
	metadata := mapIn(csv, "metadata")
	spec := mapIn(csv, "spec")
	if text(metadata["name"]) == o.Package+".vX.Y.Z" { // the name of bases of older operator-sdk versions
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
	made := result.describeKinds(o)
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

// mapIn returns a mapping in another, and adds it if it is missing.
func mapIn(m map[string]any, key string) map[string]any {
	inner, ok := m[key].(map[string]any)
	if !ok {
		inner = map[string]any{}
		m[key] = inner
	}
	return inner
}

// CheckRecord reports whether a record is valid.
func CheckRecord(data []byte) error {
	_, err := readRecord(data)
	return err
}

func readRecord(data []byte) (map[Kind]map[string]any, error) {
	var r record
	if err := safeyaml.UnmarshalJSON(data, &r); err != nil {
		return nil, fmt.Errorf("reading the record of the generated base: %w", err)
	}
	entries := map[Kind]map[string]any{}
	for _, entry := range r.Owned {
		entries[kindOf(entry)] = entry
	}
	return entries, nil
}

// describeKinds returns the entries of the kinds that the code has, and notes the others.
func (r *Result) describeKinds(o Options) []generated {
	var made []generated
	for _, kind := range o.Kinds {
		i := slices.IndexFunc(o.APIs, func(api codegen.API) bool {
			return KindOf(api) == kind
		})
		if i < 0 {
			r.Notes = append(r.Notes, missingType(kind, o.APIs))
			continue
		}
		made = append(made, describe(o.APIs[i]))
	}
	return made
}

// missingType returns the note for a kind of the project without a description.
func missingType(kind Kind, apis []codegen.API) string {
	prefix := fmt.Sprintf("%s/%s %s of PROJECT is left out: ", kind.Group, kind.Version, kind.Kind)
	for _, api := range apis {
		switch {
		case api.Kind != kind.Kind:
		case api.Group == "":
			return prefix + fmt.Sprintf("%s: the package of its type has no marker +groupName=%s", api.Position.File, kind.Group)
		case api.Group != kind.Group:
			return prefix + fmt.Sprintf("%s: the package of its type has +groupName=%s", api.Position.File, api.Group)
		default:
			return prefix + fmt.Sprintf("%s: its type has version %s", api.Position.File, api.Version)
		}
	}
	return prefix + fmt.Sprintf("no Go type %s was found", kind.Kind)
}

// merge merges the owned entries.
func (r *Result) merge(o Options, from *existing, definitions map[string]any, made []generated, before map[Kind]map[string]any) error {
	index := map[Kind]int{}
	for i, one := range made {
		index[KindOf(one.api)] = i
	}
	var conflicts diag.Findings
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
				r.Notes = append(r.Notes, fmt.Sprintf("%s/%s %s is removed from %s, because the project no longer has it", kind.Group, kind.Version, kind.Kind, from.name))
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
		case o.Prefer == InCode, o.Prefer == Neither && !isEdited(made[n], disk):
			// Only display names that no marker gives can be edits.
			m.recorded, last = true, made[n].withDerivedNames(disk)
		}
		now := made[n].entry
		made[n].entry = m.entry(last, now, disk, []any{"spec", "customresourcedefinitions", "owned", i})
		conflicts = append(conflicts, m.conflicts...)
		r.Edited = r.Edited || !reflect.DeepEqual(made[n].entry, now)
		r.note(kind, m, now, disk, made[n].entry, before[kind] != nil || o.Prefer != Neither)
	}
	if len(conflicts) > 0 {
		return diag.Advise(conflicts, "nothing was written; make both values equal, or choose with --prefer=base or --prefer=code")
	}
	setOrDelete(definitions, "owned", sortEntries(made, others))
	return nil
}

// note notes differences of unknown origin.
func (r *Result) note(kind Kind, m *merger, now, disk, merged map[string]any, known bool) {
	name := fmt.Sprintf("%s/%s %s", kind.Group, kind.Version, kind.Kind)
	if len(m.kept) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s in %s: kept values of the base that differ from the code: %s; --prefer=code replaces them",
			name, m.from.name, strings.Join(m.kept, ", ")))
	}
	if known || len(m.kept) > 0 {
		return
	}
	var changed []string
	for _, key := range []string{"displayName", "description"} {
		if disk[key] != nil && text(disk[key]) != text(now[key]) && text(merged[key]) == text(now[key]) {
			changed = append(changed, fmt.Sprintf("%s, which was %s", key, formatValue(disk[key])))
		}
	}
	if len(changed) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s in %s: updated from the code: %s; --prefer=base keeps the values of the base", name, m.from.name, strings.Join(changed, ", ")))
	}
}
