package olm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Difference is a field that an object in a cluster has otherwise than its release.
type Difference struct {
	// Path is the field, like spec.template.spec.containers[olm-operator].image.
	Path string `json:"path"`
	// Cluster and Release are the values, as JSON; empty is none.
	Cluster string `json:"cluster,omitempty"`
	Release string `json:"release,omitempty"`
}

// mostValue is how much of a value is shown.
const mostValue = 120

// Differences are the fields of a release's object that the cluster's has otherwise. What the cluster's has
// beside them, be it by defaults or by others, is none.
func Differences(release, cluster map[string]any) []Difference {
	var found []Difference
	differ("", release, cluster, &found)
	return found
}

func differ(path string, release, cluster any, found *[]Difference) {
	switch want := release.(type) {
	case map[string]any:
		have, ok := cluster.(map[string]any)
		if !ok && (cluster != nil || !empty(want)) {
			report(path, release, cluster, found)
			return
		}
		keys := make([]string, 0, len(want))
		for key := range want {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			below := key
			if path != "" {
				below = path + "." + key
			}
			differ(below, want[key], have[key], found)
		}
	case []any:
		have, ok := cluster.([]any)
		if !ok && (cluster != nil || len(want) > 0) {
			report(path, release, cluster, found)
			return
		}
		differLists(path, want, have, found)
	default:
		if !equal(release, cluster) {
			report(path, release, cluster, found)
		}
	}
}

// differLists compares items of the same name, where they have names, and else those in the same place.
func differLists(path string, want, have []any, found *[]Difference) {
	names, named := namesOf(want)
	others, othersNamed := namesOf(have)
	if named && othersNamed {
		for i, name := range names {
			var other any
			if j := slices.Index(others, name); j >= 0 {
				other = have[j]
			}
			differ(path+"["+name+"]", want[i], other, found)
		}
		return
	}
	if len(want) != len(have) {
		report(path, want, have, found)
		return
	}
	for i := range want {
		differ(path+"["+strconv.Itoa(i)+"]", want[i], have[i], found)
	}
}

// namesOf reports false where items lack names, or share them.
func namesOf(list []any) ([]string, bool) {
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

// equal tells that two scalars are the same to Kubernetes: an absent value is an empty one, and 0.5 of a
// processor are 500m.
func equal(a, b any) bool {
	if a == b || empty(a) && empty(b) {
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

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case map[string]any:
		for _, value := range v {
			if !empty(value) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return fmt.Sprint(v) == "0"
}

func report(path string, release, cluster any, found *[]Difference) {
	*found = append(*found, Difference{Path: path, Release: shown(release), Cluster: shown(cluster)})
}

func shown(v any) string {
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(text) > mostValue {
		return string([]rune(string(text[:mostValue]))) + " …"
	}
	return string(text)
}
