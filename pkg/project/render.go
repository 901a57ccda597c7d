package project

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlStyle is the formatting style of a file.
type yamlStyle struct {
	// eol is the line break.
	eol string
	// indentLists indents lists by two columns. The peers do not.
	indentLists bool
}

// entry renders a key with its value at an indentation, with sorted keys. Values are decoded YAML: map[string]any, []any and
// scalars.
func (s yamlStyle) entry(indent int, key string, value any) []string {
	pad := strings.Repeat(" ", indent)
	head := pad + scalar(key) + ":"
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			return []string{head + " {}" + s.eol}
		}
		return append([]string{head + s.eol}, s.entries(indent+2, v)...)
	case []any:
		if len(v) == 0 {
			return []string{head + " []" + s.eol}
		}
		lines := []string{head + s.eol}
		if s.indentLists {
			indent += 2
		}
		for _, item := range v {
			lines = append(lines, s.item(indent, item)...)
		}
		return lines
	}
	return []string{head + " " + scalar(value) + s.eol}
}

func (s yamlStyle) entries(indent int, m map[string]any) []string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, s.entry(indent, key, m[key])...)
	}
	return lines
}

// item renders an element of a list, its dash at the indentation.
func (s yamlStyle) item(indent int, value any) []string {
	pad := strings.Repeat(" ", indent)
	var lines []string
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			return []string{pad + "- {}" + s.eol}
		}
		lines = s.entries(indent+2, v)
	case []any:
		if len(v) == 0 {
			return []string{pad + "- []" + s.eol}
		}
		for _, inner := range v {
			lines = append(lines, s.item(indent+2, inner)...)
		}
	default:
		return []string{pad + "- " + scalar(value) + s.eol}
	}
	lines[0] = pad + "- " + lines[0][indent+2:]
	return lines
}

// scalar renders a string, number or boolean on one line, quoted if necessary.
func scalar(value any) string {
	if s, ok := value.(string); ok && strings.ContainsAny(s, "\n\r\t\u0085\u2028\u2029") {
		value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: s}
	}
	data, err := yaml.Marshal(value)
	if err != nil {
		return "null"
	}
	return string(bytes.TrimSpace(data))
}
