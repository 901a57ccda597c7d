package watches

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// AddOverrides returns data with override values added to the entry of a kind. Values that the entry already has are kept, and so is
// everything else.
func AddOverrides(data []byte, gvk schema.GroupVersionKind, values map[string]string) ([]byte, error) {
	before, root, err := helmFormat().parseForEdit(data)
	if err != nil {
		return nil, err
	}
	i := helmFormat().indexOf(before, gvk)
	if i < 0 {
		return nil, diag.Finding{Position: diag.Position{File: FileName}, Problem: fmt.Sprintf("no entry for %s", gvk)}
	}
	added := maps.Clone(values)
	maps.DeleteFunc(added, func(key, _ string) bool { _, ok := before[i].OverrideValues[key]; return ok })
	if len(added) == 0 {
		return data, nil
	}
	text, err := yaml.Marshal(added)
	if err != nil {
		return nil, err
	}
	lines, end := splitLines(data)
	limit := len(lines)
	if i+1 < len(root.Content) {
		limit = root.Content[i+1].Line - 1
	}
	entry := root.Content[i]
	at := contentEnd(lines[:limit], entry.Line-1, root.Column)
	indent := strings.Repeat(" ", entry.Column-1)
	if given := safeyaml.Child(entry, "overrideValues"); given != nil && given.Kind == yaml.MappingNode && len(given.Content) > 0 {
		at, indent = lastLine(given), strings.Repeat(" ", given.Content[0].Column-1)
	} else {
		text = []byte("overrideValues:\n" + strings.Join(entryLines(text, "  ", ""), "\n"))
	}
	edited := joinLines(slices.Insert(slices.Clone(lines), at, entryLines(text, indent, end)...))
	after := slices.Clone(before)
	after[i].OverrideValues = maps.Clone(added)
	maps.Copy(after[i].OverrideValues, before[i].OverrideValues)
	if !helmFormat().contains(edited, after) {
		return nil, notEdited()
	}
	return edited, nil
}

// lastLine returns the number of the last line of a node, from 1.
func lastLine(node *yaml.Node) int {
	last := node.Line
	for _, child := range node.Content {
		last = max(last, lastLine(child))
	}
	return last
}
