package helmchart

import (
	"errors"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// valueNodes returns the mappings of the documents of values.yaml that are not empty. Helm ignores what follows the mapping in a
// document, such as lines that are indented less.
func valueNodes(data []byte) ([]*yaml.Node, error) {
	var roots []*yaml.Node
	for _, text := range documentMark.Split(string(data), -1) {
		var document yaml.Node
		err := safeyaml.NewDecoder([]byte(text)).Decode(&document)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if err != nil || isEmptyDocument(&document) || document.Content[0].Kind == yaml.MappingNode && len(document.Content[0].Content) == 0 {
			continue
		}
		roots = append(roots, document.Content[0])
	}
	return roots, nil
}

// isPlainBlock reports whether the lines of a mapping are valid on their own: it has block style and no aliases.
func isPlainBlock(root *yaml.Node) bool {
	return root.Style&yaml.FlowStyle == 0 && !hasAlias(root)
}

func hasAlias(node *yaml.Node) bool {
	if node.Kind == yaml.AliasNode {
		return true
	}
	for _, child := range node.Content {
		if hasAlias(child) {
			return true
		}
	}
	return false
}

// resolveNode returns a copy of a node in which aliases are replaced by what they refer to, and merge keys by the fields.
func resolveNode(node *yaml.Node) *yaml.Node {
	out := *node
	out.Anchor, out.Content = "", nil
	switch node.Kind {
	case yaml.AliasNode:
		resolved := resolveNode(node.Alias)
		resolved.HeadComment, resolved.LineComment, resolved.FootComment = node.HeadComment, node.LineComment, node.FootComment
		return resolved
	case yaml.MappingNode:
		var merged []*yaml.Node
		for key, child := range safeyaml.Fields(node) {
			if key.Kind == yaml.ScalarNode && key.Tag == "!!merge" {
				merged = append(merged, resolveNode(child))
				continue
			}
			out.Content = append(out.Content, resolveNode(key), resolveNode(child))
		}
		for _, from := range merged {
			sources := []*yaml.Node{from}
			if from.Kind == yaml.SequenceNode {
				sources = from.Content
			}
			for _, source := range sources {
				for key, child := range safeyaml.Fields(source) {
					if safeyaml.ChildIndex(&out, key.Value) < 0 {
						out.Content = append(out.Content, key, child)
					}
				}
			}
		}
	default:
		for _, child := range node.Content {
			out.Content = append(out.Content, resolveNode(child))
		}
	}
	return &out
}

// mergeNodes merges a mapping into another, as Helm merges the documents of values.yaml.
func mergeNodes(into, from *yaml.Node) {
	for key, child := range safeyaml.Fields(from) {
		i := safeyaml.ChildIndex(into, key.Value)
		switch {
		case i < 0:
			into.Content = append(into.Content, key, child)
		case into.Content[i+1].Kind == yaml.MappingNode && child.Kind == yaml.MappingNode:
			mergeNodes(into.Content[i+1], child)
		default:
			into.Content[i+1] = child
		}
	}
}
