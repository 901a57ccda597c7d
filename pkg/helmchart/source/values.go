package source

import (
	"fmt"
	"maps"

	"helm.sh/helm/v4/pkg/strvals"

	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// userValues returns the values that a user sets.
func userValues(o helmchart.ValueOptions) (map[string]any, error) {
	values := map[string]any{}
	for _, file := range o.Files {
		data, err := safeyaml.ToJSON(file.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, shorten(err))
		}
		var more any
		if err := decodeExact(data, &more); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, shorten(err))
		}
		object, ok := more.(map[string]any)
		if !ok && more != nil {
			return nil, fmt.Errorf("%s: must be a mapping of keys to values", file.Name)
		}
		values = override(values, object)
	}
	for _, assignments := range o.Set {
		if err := strvals.ParseInto(assignments, values); err != nil {
			return nil, fmt.Errorf("--set %q: %w", assignments, shorten(err))
		}
	}
	for _, assignments := range o.SetString {
		if err := strvals.ParseIntoString(assignments, values); err != nil {
			return nil, fmt.Errorf("--set-string %q: %w", assignments, shorten(err))
		}
	}
	return values, nil
}

// override returns values with more, mapping by mapping.
func override(values, more map[string]any) map[string]any {
	merged := maps.Clone(values)
	for key, value := range more {
		inner, ok := value.(map[string]any)
		if before, isMapping := merged[key].(map[string]any); ok && isMapping {
			merged[key] = override(before, inner)
		} else {
			merged[key] = value
		}
	}
	return merged
}
