package stage

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/operon-sdk/operon/pkg/gateway"
)

// A Write is a write that the API server has done for an operator.
type Write struct {
	gateway.Record
	// Change is what it changed, or nil if the object was as the operator wrote it.
	Change *Change
}

// Writes matches the writes among requests with the changes that they made: a write that changes nothing is answered with the resource
// version that the object has had before. Deletions are left out, since they are answered without a version.
func (h *History) Writes(records []gateway.Record) []Write {
	type version struct{ uid, number string }
	changes := map[version]*Change{}
	for _, c := range h.Changes(0) {
		changes[version{string(c.After.GetUID()), c.After.GetResourceVersion()}] = &c
	}
	var writes []Write
	for _, r := range records {
		if !r.Done() || r.ResourceVersion == "" {
			continue
		}
		w := Write{Record: r, Change: changes[version{r.UID, r.ResourceVersion}]}
		if w.Change != nil && w.Change.Time.Before(r.Start) {
			w.Change = nil
		}
		writes = append(writes, w)
	}
	return writes
}

// ChangedFields returns the paths of the fields in which two versions of an object differ, such as spec.replicas or
// status.conditions[0].message, without those that the API server maintains. A nil version has no fields.
func (c *Change) ChangedFields() []string {
	var before map[string]any
	if c.Before != nil {
		before = c.Before.Object
	}
	var fields []string
	compareFields("", before, c.After.Object, &fields)
	return slices.DeleteFunc(fields, func(field string) bool {
		switch field {
		case "metadata.resourceVersion", "metadata.generation", "metadata.managedFields":
			return true
		}
		return false
	})
}

func compareFields(path string, a, b any, fields *[]string) {
	mapA, okA := a.(map[string]any)
	mapB, okB := b.(map[string]any)
	if okA || okB {
		if path == "metadata.managedFields" || (a != nil && !okA) || (b != nil && !okB) {
			*fields = append(*fields, path)
			return
		}
		keys := maps.Clone(mapA)
		if keys == nil {
			keys = map[string]any{}
		}
		maps.Copy(keys, mapB)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			child := key
			if path != "" {
				child = path + "." + key
			}
			compareFields(child, mapA[key], mapB[key], fields)
		}
		return
	}
	listA, okA := a.([]any)
	listB, okB := b.([]any)
	if okA && okB && len(listA) == len(listB) && path != "metadata.managedFields" {
		for i := range listA {
			compareFields(fmt.Sprintf("%s[%d]", path, i), listA[i], listB[i], fields)
		}
		return
	}
	if !reflect.DeepEqual(a, b) {
		*fields = append(*fields, path)
	}
}
