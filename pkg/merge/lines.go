package merge

import "strings"

// parseLines splits an ignore file into its patterns. A comment belongs to the pattern after it.
func parseLines(text []byte) *Node {
	root := &Node{Container: true, Splittable: true}
	var lead []string
	for _, line := range splitLines(text) {
		pattern := strings.TrimSpace(line)
		if pattern == "" || strings.HasPrefix(pattern, "#") {
			lead = append(lead, line)
			continue
		}
		root.Nodes = append(root.Nodes, &Node{Key: pattern, Lead: lead, Head: []string{line}})
		lead = nil
	}
	root.Tail = lead
	number(root.Nodes)
	return root
}

// ParseOpaque treats a text as one unit.
func ParseOpaque(text []byte) *Node { return &Node{Head: splitLines(text)} }
