package olm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// A Difference is a field in which an object of a cluster differs from its release.
type Difference struct {
	// Path is the path of the field, such as spec.template.spec.containers[olm-operator].image.
	Path string `json:"path"`
	// Cluster and Release are the values, as JSON; empty if absent.
	Cluster string `json:"cluster,omitempty"`
	Release string `json:"release,omitempty"`
}

// maxValueLength is the length to which values are cut, in bytes.
const maxValueLength = 120

// Differences returns the fields of a release's object that differ in the cluster. It ignores additional fields in the cluster:
// they are defaults, or set by others.
func Differences(release, cluster map[string]any) []Difference {
	var found []Difference
	compareValues("", release, cluster, &found)
	return found
}

func compareValues(path string, release, cluster any, found *[]Difference) {
	switch want := release.(type) {
	case map[string]any:
		have, ok := cluster.(map[string]any)
		if !ok && (cluster != nil || !isEmpty(want)) {
			addDifference(path, release, cluster, found)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			below := key
			if path != "" {
				below = path + "." + key
			}
			compareValues(below, want[key], have[key], found)
		}
	case []any:
		have, ok := cluster.([]any)
		if !ok && (cluster != nil || len(want) > 0) {
			addDifference(path, release, cluster, found)
			return
		}
		compareLists(path, want, have, found)
	default:
		if !equalScalars(release, cluster) {
			addDifference(path, release, cluster, found)
		}
	}
}

// compareLists compares items by name if all have one, otherwise by position.
func compareLists(path string, want, have []any, found *[]Difference) {
	names, named := itemNames(want)
	others, othersNamed := itemNames(have)
	if named && othersNamed {
		for i, name := range names {
			var other any
			if j := slices.Index(others, name); j >= 0 {
				other = have[j]
			}
			compareValues(path+"["+name+"]", want[i], other, found)
		}
		return
	}
	if len(want) != len(have) {
		addDifference(path, want, have, found)
		return
	}
	for i := range want {
		compareValues(path+"["+strconv.Itoa(i)+"]", want[i], have[i], found)
	}
}

// itemNames returns the names of items. It reports false if names are missing or not unique.
func itemNames(list []any) ([]string, bool) {
	var names []string
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, ok := m["name"].(string)
		if !ok || slices.Contains(names, name) {
			return nil, false
		}
		names = append(names, name)
	}
	return names, len(names) > 0
}

// equalScalars reports whether two scalars are equal for Kubernetes: an absent value equals an empty one, and 0.5 of a CPU
// equals 500m.
func equalScalars(a, b any) bool {
	if a == b || isEmpty(a) && isEmpty(b) {
		return true
	}
	x, y := fmt.Sprint(a), fmt.Sprint(b)
	if x == y && a != nil && b != nil {
		return true // numbers of different Go types
	}
	p, err := resource.ParseQuantity(x)
	if err != nil {
		return false
	}
	q, err := resource.ParseQuantity(y)
	return err == nil && p.Cmp(q) == 0
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case map[string]any:
		for _, value := range v {
			if !isEmpty(value) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return fmt.Sprint(v) == "0"
}

// addDifference records the values of a field that differs.
func addDifference(path string, release, cluster any, found *[]Difference) {
	*found = append(*found, Difference{Path: path, Release: formatValue(release), Cluster: formatValue(cluster)})
}

func formatValue(v any) string {
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(text) > maxValueLength {
		return string([]rune(string(text[:maxValueLength]))) + " …"
	}
	return string(text)
}
