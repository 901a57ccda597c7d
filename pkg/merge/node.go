package merge

import (
	"strconv"
	"strings"
)

// A Node is a unit of a text: a leaf, or a container of other units. All lines include their line ends. Lead, Head,
// Nodes and Tail, in this order, are the lines of the text.
type Node struct {
	// Key identifies the unit among its siblings in all versions of the text, such as the name of a field or variable.
	Key string
	// Lead holds the comments and blank lines before the unit.
	Lead []string
	// Head holds all other lines of a leaf, or the lines of a container before its first unit.
	Head  []string
	Nodes []*Node
	// Tail holds the lines of a container after its last unit.
	Tail []string
	// Container reports whether the unit is a container, which may be empty.
	Container bool
	// Splittable reports whether the units of a container are independent of each other, such as imports or files. If
	// theirs no longer has the container, its unedited units are removed and the user's are kept.
	Splittable bool
	// Off reports whether an entry is commented out, Item whether a container starts with the dash of a list.
	Off, Item bool
	// On is the enabled form of a commented entry, or nil if that is unknown.
	On *Node
	// Indent is the number of spaces before the unit if indentation is part of the format.
	Indent int
}

// Lines returns all lines of the tree in order.
func (n *Node) Lines() []string {
	return n.appendLines(nil)
}

func (n *Node) appendLines(lines []string) []string {
	lines = append(append(lines, n.Lead...), n.Head...)
	for _, child := range n.Nodes {
		lines = child.appendLines(lines)
	}
	return append(lines, n.Tail...)
}

// Text returns the text of the tree.
func (n *Node) Text() []byte { return []byte(strings.Join(n.Lines(), "")) }

// child returns the unit with a key, or nil.
func (n *Node) child(key string) *Node {
	for _, c := range n.Nodes {
		if c.Key == key {
			return c
		}
	}
	return nil
}

// number appends numbers to repeated keys of siblings: the second "a" becomes "a#2".
func number(nodes []*Node) {
	used, count := map[string]bool{}, map[string]int{}
	for _, n := range nodes {
		key := n.Key
		for used[n.Key] {
			count[key]++
			n.Key = key + "#" + strconv.Itoa(count[key]+1)
		}
		used[n.Key] = true
	}
}

// shifted returns the tree indented by a number of spaces, which may be negative.
func (n *Node) shifted(by int) *Node {
	if by == 0 {
		return n
	}
	out := *n
	out.Indent += by
	out.Lead, out.Head, out.Tail = shift(n.Lead, by), shift(n.Head, by), shift(n.Tail, by)
	out.Nodes = nil
	for _, child := range n.Nodes {
		out.Nodes = append(out.Nodes, child.shifted(by))
	}
	return &out
}

func shift(lines []string, by int) []string {
	var out []string
	for _, line := range lines {
		if by > 0 && !isBlank(line) {
			line = strings.Repeat(" ", by) + line
		}
		for range -by {
			line = strings.TrimPrefix(line, " ")
		}
		out = append(out, line)
	}
	return out
}

// splitLines splits a text into lines with their ends, which is added to the last line if needed.
func splitLines(text []byte) []string {
	var lines []string
	for line := range strings.Lines(string(text)) {
		lines = append(lines, line)
	}
	if last := len(lines) - 1; last >= 0 && !strings.HasSuffix(lines[last], "\n") {
		lines[last] += "\n"
	}
	return lines
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }
