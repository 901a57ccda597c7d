package watches

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// text returns the entry as a list with one element.
func (w *Watch) text() ([]byte, error) {
	entry := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, value any) error {
		node := &yaml.Node{}
		if err := node.Encode(value); err != nil {
			return fmt.Errorf("writing %s: %w", key, err)
		}
		entry.Content = append(entry.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, node)
		return nil
	}
	err := errors.Join(add("group", w.Group), add("version", w.Version), add("kind", w.Kind), add("chart", w.Chart))
	optional := func(key string, given bool, value any) {
		if given && err == nil {
			err = add(key, value)
		}
	}
	optional("watchDependentResources", !w.WatchDependentResources, false)
	optional("dependsOn", len(w.DependsOn) > 0, dependencyValues(w.DependsOn))
	optional("valuesFrom", len(w.ValuesFrom) > 0, sourceValues(w.ValuesFrom, valuesFromFormat()))
	optional("targetNamespace", w.TargetNamespace.Name != "", w.TargetNamespace.Name)
	optional("targetNamespaceFrom", w.TargetNamespace.From != "", w.TargetNamespace.From)
	optional("overrideValues", len(w.OverrideValues) > 0, w.OverrideValues)
	optional("typedOverrideValues", len(w.TypedOverrideValues) > 0, w.TypedOverrideValues)
	optional("selector", w.Selector != nil, selectorValues(w.Selector))
	optional("reconcilePeriod", w.ReconcilePeriod != 0, w.ReconcilePeriod.String())
	if w.Timeout != nil {
		optional("timeout", true, w.Timeout.String())
	}
	optional("dryRunOption", w.DryRunOption != "", w.DryRunOption)
	optional("crds", w.CRDs != "", w.CRDs)
	optional("takeOwnership", w.TakeOwnership != "", w.TakeOwnership)
	optional("maxHistory", w.MaxHistory != nil, w.MaxHistory)
	install, upgrade := w.Install.values(), w.Upgrade.values()
	optional("install", len(install) > 0, install)
	optional("upgrade", len(upgrade) > 0, upgrade)
	rollout := w.Rollout.values()
	optional("rollout", len(rollout) > 0, rollout)
	test := w.Test.values()
	optional("test", len(test) > 0, test)
	optional("outputs", len(w.Outputs) > 0, outputValues(w.Outputs, helmOutputs()))
	drift := w.DriftDetection.values()
	optional("driftDetection", len(drift) > 0, drift)
	optional("maxConcurrentReconciles", w.MaxConcurrentReconciles != 0, w.MaxConcurrentReconciles)
	if err != nil {
		return nil, err
	}
	return encode([]*yaml.Node{entry})
}

func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// entryLines returns the lines of a list with an indentation and without line feeds; end is appended to each.
func entryLines(text []byte, indent, end string) []string {
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			line = indent + line
		}
		lines[i] = line + end
	}
	return lines
}

// selectorValues returns a selector, which may be nil, with the keys of its JSON form.
func selectorValues(selector *metav1.LabelSelector) map[string]any {
	values := map[string]any{}
	if selector == nil {
		return values
	}
	if len(selector.MatchLabels) > 0 {
		values["matchLabels"] = selector.MatchLabels
	}
	var expressions []any
	for _, e := range selector.MatchExpressions {
		expression := map[string]any{"key": e.Key, "operator": string(e.Operator)}
		if len(e.Values) > 0 {
			expression["values"] = e.Values
		}
		expressions = append(expressions, expression)
	}
	if len(expressions) > 0 {
		values["matchExpressions"] = expressions
	}
	return values
}
