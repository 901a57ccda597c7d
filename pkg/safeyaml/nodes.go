package safeyaml

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// checkNodes checks limits that require parsing. The size and nesting of the text have been checked.
func checkNodes(data []byte) error {
	c := &counter{sizes: map[*yaml.Node]int{}}
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var document yaml.Node
		if decoder.Decode(&document) != nil {
			return nil // end of the text, or an error that the caller will get, too
		}
		size, err := c.count(&document)
		if err != nil {
			return err
		}
		if c.total += size; c.total > MaxNodes {
			return &Error{Line: document.Line, Problem: fmt.Sprintf("contains more than %d values after expanding its aliases", MaxNodes)}
		}
	}
}

// A counter counts nodes after expanding aliases.
type counter struct {
	total, repeated int
	// sizes are the sizes of anchored nodes, 0 while a node is being counted.
	sizes map[*yaml.Node]int
}

// count returns the number of nodes below a node, including itself.
func (c *counter) count(node *yaml.Node) (int, error) {
	if node.Kind == yaml.AliasNode {
		size, ok := c.sizes[node.Alias]
		if !ok || size == 0 {
			return 0, &Error{Line: node.Line, Problem: fmt.Sprintf("alias *%s refers to a collection that contains it", node.Value)}
		}
		return size, nil
	}
	if node.Anchor != "" {
		c.sizes[node] = 0
	}
	size, keys := 1, map[string]bool{}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			if keys[child.Value] {
				if c.repeated++; c.repeated > maxRepeated {
					return 0, &Error{Line: child.Line, Problem: fmt.Sprintf("repeats the key %.40q, and more than %d keys are repeated", child.Value, maxRepeated)}
				}
			}
			keys[child.Value] = true
		}
		more, err := c.count(child)
		if err != nil {
			return 0, err
		}
		size = min(size+more, MaxNodes+1)
	}
	if node.Anchor != "" {
		c.sizes[node] = size
	}
	return size, nil
}
