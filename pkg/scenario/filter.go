package scenario

import "github.com/operon-sdk/operon/pkg/lazyregexp"

// filterKey matches the key of an assertion about some elements of a list, such as (conditions[?type == 'Ready']).
var filterKey = lazyregexp.New(`^\(\s*([A-Za-z]\w*)\[\?\s*([A-Za-z]\w*)\s*==\s*'([^']*)'\s*\]\s*\)$`)

// isFilter reports whether a key selects elements of a list.
func isFilter(key string) bool { return filterKey.MatchString(key) }

// selected returns the elements of a list that the key of an assertion selects, and the path of the selection.
func selected(fields map[string]any, key string) (elements []any, path string) {
	parts := filterKey.FindStringSubmatch(key)
	list, _ := fields[parts[1]].([]any)
	for _, element := range list {
		if values, ok := element.(map[string]any); ok && values[parts[2]] == parts[3] {
			elements = append(elements, element)
		}
	}
	return elements, parts[1] + "[?" + parts[2] + " == '" + parts[3] + "']"
}
