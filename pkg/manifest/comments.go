package manifest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// KeepComments adds the comments of an earlier version of a YAML document to the current one, at the entries that still exist. The
// current document is returned unchanged if the earlier one has no comments or is invalid.
func KeepComments(earlier, current []byte) []byte {
	if !bytes.Contains(earlier, []byte("#")) {
		return current
	}
	var old, now yaml.Node
	if safeyaml.Unmarshal(earlier, &old) != nil || safeyaml.Unmarshal(current, &now) != nil || len(old.Content) == 0 || len(now.Content) == 0 {
		return current
	}
	comments := map[string]comment{}
	collect(old.Content[0], "", comments)
	entries := map[string]entry{}
	locate(now.Content[0], "", entries)
	lines := strings.Split(strings.TrimSuffix(string(current), "\n"), "\n")
	before := map[int][]string{}
	for _, path := range slices.Sorted(maps.Keys(comments)) {
		at, ok := entries[path]
		if !ok {
			continue
		}
		c := comments[path]
		switch {
		case c.line == "":
		case at.simple && !strings.Contains(c.line, "\n"):
			lines[at.line-1] += " " + c.line
		default:
			c.head = strings.Trim(c.head+"\n"+c.line, "\n")
		}
		before[at.line] = append(before[at.line], indented(c.head, at.column)...)
		if end := lineAfter(path, at, entries, len(lines)+1); c.foot != "" {
			before[end] = append(indented(c.foot, at.column), before[end]...)
		}
	}
	out := indented(old.HeadComment, 1)
	for i, line := range lines {
		out = append(append(out, before[i+1]...), line)
	}
	out = append(out, before[len(lines)+1]...)
	out = append(out, indented(old.FootComment, 1)...)
	return []byte(strings.Join(out, "\n") + "\n")
}

// lineAfter returns the line of the first entry after an entry and its children.
func lineAfter(path string, at entry, entries map[string]entry, end int) int {
	for other, entry := range entries {
		if entry.line > at.line && entry.line < end && !strings.HasPrefix(other, path+"/") {
			end = entry.line
		}
	}
	return end
}

// A comment has the comments above an entry, on its line, and below it.
type comment struct{ head, line, foot string }

// An entry is the position of a key or item. Only a simple entry can be followed by a comment on its line.
type entry struct {
	line, column int
	simple       bool
}

// collect adds the comments of the entries of a node by path.
func collect(node *yaml.Node, path string, into map[string]comment) {
	add := func(path string, c comment) {
		if c != (comment{}) {
			into[path] = c
		}
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			here := path + "/" + key.Value
			line := value.LineComment
			if line == "" {
				line = key.LineComment
			}
			add(here, comment{head: key.HeadComment, line: line, foot: key.FootComment})
			collect(value, here, into)
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			here := path + "/" + element(node, i)
			head, line := item.HeadComment, item.LineComment
			if item.Kind == yaml.MappingNode && len(item.Content) > 0 && head == "" {
				head, item.Content[0].HeadComment = item.Content[0].HeadComment, ""
			}
			add(here, comment{head: head, line: line, foot: item.FootComment})
			collect(item, here, into)
		}
	}
}

// locate adds the positions of the entries of a node by path.
func locate(node *yaml.Node, path string, into map[string]entry) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			here := path + "/" + key.Value
			into[here] = entry{line: key.Line, column: key.Column, simple: plain(value) && value.Line == key.Line}
			locate(value, here, into)
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			here := path + "/" + element(node, i)
			into[here] = entry{line: item.Line, column: max(1, item.Column-2), simple: plain(item)}
			locate(item, here, into)
			if item.Kind == yaml.MappingNode && len(item.Content) > 0 { // the first entry follows the dash
				first := here + "/" + item.Content[0].Value
				into[first] = entry{line: item.Line, column: max(1, item.Column-2), simple: into[first].simple}
			}
		}
	}
}

// plain reports whether a node is a scalar on one line.
func plain(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && len(node.Value) < 60 && !strings.Contains(node.Value, "\n")
}

// element returns an identifier of a list item that does not depend on its index.
func element(list *yaml.Node, i int) string {
	name := identityOf(list.Content[i])
	n := 0
	for _, earlier := range list.Content[:i] {
		if identityOf(earlier) == name {
			n++
		}
	}
	return fmt.Sprintf("[%s]%d", name, n)
}

// identityOf returns the identifying values of a list item.
func identityOf(node *yaml.Node) string {
	if node.Kind == yaml.ScalarNode {
		return node.Value
	}
	var parts []string
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i].Value
		if node.Kind == yaml.MappingNode && slices.Contains([]string{"name", "kind", "version", "path", "type", "email"}, key) {
			parts = append(parts, key+"="+node.Content[i+1].Value)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// indented returns the lines of a text, indented to a column.
func indented(text string, column int) []string {
	if text = strings.Trim(text, "\n"); text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", max(0, column-1)) + line
		}
	}
	return lines
}
