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

// article returns a type for messages.
func article(name string) string {
	name = strings.TrimPrefix(name, "*")
	switch {
	case name == "string":
		return "a string"
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

// Locate returns the position of a field of the object, or of its nearest existing parent. The steps of the path are keys and
// indices of lists.
func (o Object) Locate(path ...string) diag.Position {
	if o.item {
		return o.Position
	}
	if o.source != nil {
		return Document{Position: o.Position, Data: o.source}.Locate(inMappings(path)...)
	}
	return Document{Position: o.Position, Data: o.data}.Locate(path...)
}

// Locate returns the position of a field of the document, or of its nearest existing parent.
func (d Document) Locate(path ...string) diag.Position { return d.Locator()(path...) }

// Locator returns Locate for several fields of the document, which is parsed only once.
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

// descend returns the key and value of a step. In a list both are the item.
func descend(node *yaml.Node, step string) (key, value *yaml.Node) {
	switch node.Kind {
	case yaml.AliasNode:
		return descend(node.Alias, step)
	case yaml.MappingNode:
		if i := safeyaml.ChildIndex(node, step); i >= 0 {
			return node.Content[i], node.Content[i+1]
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
	}
	return nil, nil
}
