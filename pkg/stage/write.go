package stage

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		if w.Change != nil && (w.Change.Time.Before(r.Start) || w.Change.isBesides(r)) {
			w.Change = nil
		}
		writes = append(writes, w)
	}
	return writes
}

// isBesides reports whether somebody else has made a change just before a write: only the status has changed, which has a subresource, and
// the write wasn't sent to that.
func (c *Change) isBesides(r gateway.Record) bool {
	hasStatus := slices.ContainsFunc(c.After.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" })
	differences := c.Differences()
	return r.Subresource == "" && c.Before != nil && hasStatus && len(differences) > 0 && !slices.ContainsFunc(differences, func(d Difference) bool {
		return d.Path != "status" && !strings.HasPrefix(d.Path, "status.")
	})
}

// A Difference is a field in which two versions of an object differ.
type Difference struct {
	// Path is the path of the field, such as spec.replicas or status.conditions[0].message.
	Path string
	// Before and After are its values, nil where there is none. The values of lists of other lengths are the lists.
	Before, After any
}

// Differences returns what a change has changed, in the order of the paths, without what the API server maintains. The former version of
// a created object has no fields.
func (c *Change) Differences() []Difference {
	var before map[string]any
	if c.Before != nil {
		before = c.Before.Object
	}
	differences := compareFields("", before, c.After.Object, nil)
	return slices.DeleteFunc(differences, func(d Difference) bool {
		switch d.Path {
		case "metadata.resourceVersion", "metadata.generation", "metadata.managedFields":
			return true
		}
		return false
	})
}

// compareFields appends the differences of two values.
func compareFields(path string, a, b any, differences []Difference) []Difference {
	mapA, isMapA := a.(map[string]any)
	mapB, isMapB := b.(map[string]any)
	if (isMapA || a == nil) && (isMapB || b == nil) && (isMapA || isMapB) {
		keys := map[string]bool{}
		for _, fields := range []map[string]any{mapA, mapB} {
			for key := range fields {
				keys[key] = true
			}
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			differences = compareFields(strings.TrimPrefix(path+"."+key, "."), mapA[key], mapB[key], differences)
		}
		return differences
	}
	listA, isListA := a.([]any)
	listB, isListB := b.([]any)
	if isListA && isListB && len(listA) == len(listB) && path != "metadata.managedFields" {
		for i := range listA {
			differences = compareFields(fmt.Sprintf("%s[%d]", path, i), listA[i], listB[i], differences)
		}
		return differences
	}
	if !reflect.DeepEqual(a, b) {
		differences = append(differences, Difference{path, a, b})
	}
	return differences
}
