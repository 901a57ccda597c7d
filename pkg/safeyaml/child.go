package safeyaml

import "go.yaml.in/yaml/v3"

// Resolve returns the node that an alias refers to, and other nodes unchanged.
func Resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// Child returns the value of a key of a mapping, or of a path of keys of nested mappings. It returns nil if node is nil or not a
// mapping, or has no such key. Aliases are not followed.
func Child(node *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		i := ChildIndex(node, key)
		if i < 0 {
			return nil
		}
		node = node.Content[i+1]
	}
	return node
}

// ChildText returns the value of a key of a mapping as text, or "" if it is not a scalar.
func ChildText(node *yaml.Node, key string) string {
	if value := Child(node, key); value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}

// ChildIndex returns the index of a key in the content of a mapping, or -1. The value follows the key.
func ChildIndex(node *yaml.Node, key string) int {
	if node != nil && node.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Kind == yaml.ScalarNode && node.Content[i].Value == key {
				return i
			}
		}
	}
	return -1
}
