package watches

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// overrideValues reads a map of texts. As in Kubernetes, other scalars are converted to texts.
func (p *parser) overrideValues(node *yaml.Node) map[string]string {
	if node.Kind != yaml.MappingNode {
		p.addf(node, "must be a map of paths of values to texts")
		return nil
	}
	values := map[string]string{}
	for key, value := range safeyaml.Fields(node) {
		if value = safeyaml.Resolve(value); value.Kind != yaml.ScalarNode {
			p.addf(value, "override value %q must be a string; typedOverrideValues has values with types", key.Value)
			continue
		}
		if _, ok := values[key.Value]; ok {
			p.addf(key, "key %q is given twice", key.Value)
		}
		values[key.Value] = scalarText(value)
	}
	return values
}

// scalarText returns a scalar as text, as JSON writes it.
func scalarText(node *yaml.Node) string {
	var value any
	switch err := node.Decode(&value); v := value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int, int64, uint64:
		return fmt.Sprint(v)
	case float64:
		if err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
	case nil:
		return ""
	}
	return node.Value
}

// typedValues reads a map of values that JSON can represent.
func (p *parser) typedValues(node *yaml.Node, purpose string) map[string]any {
	values := map[string]any{}
	if p.isVariable(node) {
		return values
	}
	keepDates(node)
	if node.Kind != yaml.MappingNode {
		p.addf(node, "must be a map of values, %s", purpose)
	} else if err := node.Decode(&values); err != nil {
		p.addf(node, "%s", syntaxProblem(err))
	} else {
		values = textKeys(values).(map[string]any)
		if path := invalidValue(values); path != "" {
			p.addf(node, "%s: keys must be texts, and numbers finite", path)
		}
	}
	return values
}

// keepDates makes dates texts, as they are in JSON.
func keepDates(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!timestamp" {
		node.Tag = "!!str"
	}
	for _, child := range node.Content {
		keepDates(child)
	}
	if node.Alias != nil {
		keepDates(node.Alias)
	}
}

// textKeys returns a value whose maps have texts as keys, where these are numbers, true or false. YAML is converted to JSON so.
func textKeys(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, element := range v {
			v[key] = textKeys(element)
		}
	case []any:
		for i, element := range v {
			v[i] = textKeys(element)
		}
	case map[any]any:
		converted := make(map[string]any, len(v))
		for key, element := range v {
			switch key.(type) {
			case string, bool, int, int64, uint64, float64:
				converted[fmt.Sprint(key)] = textKeys(element)
			default:
				return v
			}
		}
		return converted
	}
	return value
}

// invalidValue returns the path of a value that JSON cannot represent, or "".
func invalidValue(value any) string {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if path := invalidValue(v[key]); path != "" {
				return strings.TrimRight(key+"."+path, ".")
			}
		}
	case []any:
		for i, element := range v {
			if path := invalidValue(element); path != "" {
				return fmt.Sprintf("[%d].%s", i, path)
			}
		}
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return "."
		}
	case map[any]any:
		return "."
	}
	return ""
}
