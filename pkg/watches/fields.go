package watches

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// readers returns the functions that read the values of an entry's keys.
func (w *Watch) readers(p *parser) map[string]func(*yaml.Node) {
	text := func(into *string, check func(string) []string) func(*yaml.Node) {
		return func(value *yaml.Node) {
			if value.Kind != yaml.ScalarNode {
				p.addf(value, "must be a text")
				return
			}
			*into = value.Value
			for _, problem := range check(value.Value) {
				problem, _, _ = strings.Cut(problem, " (e.g.") // and a regular expression
				p.addf(value, "%q: %s", value.Value, problem)
			}
		}
	}
	number := func(least int, set func(int)) func(*yaml.Node) {
		return func(value *yaml.Node) {
			if n, err := strconv.Atoi(value.Value); err != nil || value.Kind != yaml.ScalarNode || n < least || n > math.MaxInt32 {
				p.addf(value, "must be a whole number, at least %d", least)
			} else {
				set(n)
			}
		}
	}
	return map[string]func(*yaml.Node){
		"group":   text(&w.Group, optional(validation.IsDNS1123Subdomain)),
		"version": text(&w.Version, optional(validation.IsDNS1035Label)),
		"kind": text(&w.Kind, optional(func(kind string) []string {
			return validation.IsDNS1035Label(strings.ToLower(kind))
		})),
		"chart": text(&w.Chart, optional(checkChart)),
		"watchDependentResources": func(value *yaml.Node) {
			if value.Kind != yaml.ScalarNode || value.Decode(&w.WatchDependentResources) != nil {
				p.addf(value, "must be true or false")
			}
		},
		"overrideValues":          func(value *yaml.Node) { w.OverrideValues = p.overrideValues(value) },
		"typedOverrideValues":     func(value *yaml.Node) { w.TypedOverrideValues = p.typedValues(value) },
		"selector":                func(value *yaml.Node) { w.Selector = p.selector(value) },
		"reconcilePeriod":         func(value *yaml.Node) { w.ReconcilePeriod = p.duration(value) },
		"maxHistory":              number(0, func(n int) { w.MaxHistory = &n }),
		"maxConcurrentReconciles": number(1, func(n int) { w.MaxConcurrentReconciles = n }),
		"dryRunOption": func(value *yaml.Node) {
			valid := []string{DryRunClient, DryRunNone, DryRunServer}
			if w.DryRunOption = value.Value; value.Kind == yaml.ScalarNode && (value.Value == "" || slices.Contains(valid, value.Value)) {
				return
			}
			problem := fmt.Sprintf("%q: must be client, none or server", value.Value)
			if near, ok := diag.Nearest(value.Value, valid); ok {
				problem += fmt.Sprintf("; did you mean %q?", near)
			}
			p.addf(value, "%s", problem)
		},
	}
}

// optional returns a check that accepts an empty text.
func optional(check func(string) []string) func(string) []string {
	return func(text string) []string {
		if text == "" {
			return nil
		}
		return check(text)
	}
}

// checkChart rejects sources of charts that only create api reads.
func checkChart(chart string) []string {
	if strings.Contains(chart, "://") {
		return []string{"must be a directory; add the chart to the project with 'create api --helm-chart'"}
	}
	return nil
}

// overrideValues reads a map of texts. As in Kubernetes, other scalars are converted to texts.
func (p *parser) overrideValues(node *yaml.Node) map[string]string {
	if node.Kind != yaml.MappingNode {
		p.addf(node, "must be a map of paths of values to texts")
		return nil
	}
	values := map[string]string{}
	for key, value := range safeyaml.Fields(node) {
		if value = resolve(value); value.Kind != yaml.ScalarNode {
			p.addf(value, "override value %q must be a text; typedOverrideValues has values with types", key.Value)
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

// typedValues reads values as those of a chart.
func (p *parser) typedValues(node *yaml.Node) map[string]any {
	values := map[string]any{}
	if node.Kind != yaml.MappingNode {
		p.addf(node, "must be a map of values, as in a values.yaml")
	} else if err := node.Decode(&values); err != nil {
		p.addf(node, "%s", syntaxProblem(err))
	} else if path := invalidValue(values); path != "" {
		p.addf(node, "%s: keys must be texts, and numbers finite", path)
	}
	return values
}

// invalidValue returns the path of a value that JSON cannot represent, or "".
func invalidValue(value any) string {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if path := invalidValue(v[key]); path != "" {
				return strings.TrimSuffix(key+"."+path, ".")
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

// selector reads a label selector.
func (p *parser) selector(node *yaml.Node) *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	data, err := yaml.Marshal(node)
	if err == nil {
		err = safeyaml.UnmarshalStrict(data, selector)
	}
	if err == nil {
		_, err = metav1.LabelSelectorAsSelector(selector)
	}
	if err != nil {
		p.addf(node, "must be a label selector: %s", syntaxProblem(err))
		return nil
	}
	return selector
}

// duration reads a duration that is not negative.
func (p *parser) duration(node *yaml.Node) time.Duration {
	d, err := time.ParseDuration(node.Value)
	if err != nil || node.Kind != yaml.ScalarNode || d < 0 {
		p.addf(node, "%q: must be a duration that is not negative, such as 1m30s", node.Value)
		return 0
	}
	return d
}

// syntaxProblem returns the text of an error of a YAML parser in one line, without its prefixes.
func syntaxProblem(err error) string {
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "error unmarshaling JSON: ", "while decoding JSON: ", "json: ", "yaml: ", "unmarshal errors:"} {
		text = strings.TrimPrefix(text, prefix)
	}
	return strings.Join(strings.Fields(text), " ")
}
