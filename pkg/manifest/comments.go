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

// KeepComments puts the comments of an earlier form of a YAML document into the current one, in the places
// that still exist. Where the earlier form has none, or cannot be read, the current one comes back as it is.
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
	places := map[string]place{}
	locate(now.Content[0], "", places)
	lines := strings.Split(strings.TrimSuffix(string(current), "\n"), "\n")
	before := map[int][]string{}
	for _, path := range slices.Sorted(maps.Keys(comments)) {
		at, ok := places[path]
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
		if end := behind(path, at, places, len(lines)+1); c.foot != "" {
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

// behind is the line at which the first entry behind another and all that belongs to it begins.
func behind(path string, at place, places map[string]place, end int) int {
	for other, place := range places {
		if place.line > at.line && place.line < end && !strings.HasPrefix(other, path+"/") {
			end = place.line
		}
	}
	return end
}

// comment is what stands above an entry, behind it on its line, and below it.
type comment struct{ head, line, foot string }

// place is where an entry begins. A comment can stand behind a simple one only.
type place struct {
	line, column int
	simple       bool
}

// collect notes the comments of a node's entries by their paths.
func collect(node *yaml.Node, path string, into map[string]comment) {
	note := func(path string, c comment) {
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
			note(here, comment{head: key.HeadComment, line: line, foot: key.FootComment})
			collect(value, here, into)
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			here := path + "/" + element(node, i)
			head, line := item.HeadComment, item.LineComment
			if item.Kind == yaml.MappingNode && len(item.Content) > 0 && head == "" {
				head, item.Content[0].HeadComment = item.Content[0].HeadComment, ""
			}
			note(here, comment{head: head, line: line, foot: item.FootComment})
			collect(item, here, into)
		}
	}
}

// locate notes where a node's entries begin.
func locate(node *yaml.Node, path string, into map[string]place) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			here := path + "/" + key.Value
			into[here] = place{line: key.Line, column: key.Column, simple: plain(value) && value.Line == key.Line}
			locate(value, here, into)
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			here := path + "/" + element(node, i)
			into[here] = place{line: item.Line, column: max(1, item.Column-2), simple: plain(item)}
			locate(item, here, into)
			if item.Kind == yaml.MappingNode && len(item.Content) > 0 { // its first entry stands behind the dash
				first := here + "/" + item.Content[0].Value
				into[first] = place{line: item.Line, column: max(1, item.Column-2), simple: into[first].simple}
			}
		}
	}
}

// plain tells that a scalar ends on the line that it begins on.
func plain(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && len(node.Value) < 60 && !strings.Contains(node.Value, "\n")
}

// element names an element of a list by what tells it from the others, so that it is found at another index.
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
