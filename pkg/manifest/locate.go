package manifest

import (
	"encoding/json"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

type jsonTypeError = json.UnmarshalTypeError

// article names a type for a person.
func article(name string) string {
	name = strings.TrimPrefix(name, "*")
	switch {
	case name == "string":
		return "a text"
	case name == "bool":
		return "true or false"
	case name == "array" || strings.HasPrefix(name, "[]"):
		return "a list"
	case name == "object" || strings.HasPrefix(name, "map[") || strings.Contains(name, "."):
		return "a mapping"
	case strings.HasPrefix(name, "int") || strings.HasPrefix(name, "uint") || strings.HasPrefix(name, "float") || strings.HasPrefix(name, "number"):
		return "a number"
	}
	return name
}

// Locate finds the place of a field within the object; steps are keys and indices of lists. Where the
// path ends early, it is the place of the last field found.
func (o Object) Locate(path ...string) diag.Position {
	if o.item {
		return o.Position
	}
	return Document{Position: o.Position, Data: o.data}.Locate(path...)
}

// Locate finds the place of a field within the document, as Object.Locate does.
func (d Document) Locate(path ...string) diag.Position { return d.Locator()(path...) }

// Locator is Locate for many fields of one document, which it reads once.
func (d Document) Locator() func(path ...string) diag.Position {
	var doc yaml.Node
	if err := safeyaml.Unmarshal(d.Data, &doc); err != nil || len(doc.Content) == 0 {
		return func(...string) diag.Position { return d.Position }
	}
	return func(path ...string) diag.Position {
		node, at := doc.Content[0], doc.Content[0]
		for _, step := range path {
			key, value := descend(node, step)
			if value == nil {
				break
			}
			node, at = value, key
		}
		return diag.Position{File: d.File, Line: d.Line + at.Line - 1, Column: at.Column}
	}
}

// descend gives the key and the value of one step; both are the item in a list.
func descend(node *yaml.Node, step string) (key, value *yaml.Node) {
	switch node.Kind {
	case yaml.AliasNode:
		return descend(node.Alias, step)
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
	}
	return nil, nil
}
