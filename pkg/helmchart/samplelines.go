package helmchart

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A sampleLine is a line of a sample's spec. Without isSet, it is a comment.
type sampleLine struct {
	text  string
	isSet bool
}

// sampleLines returns the lines of values.yaml, with examples in the mappings that they belong to. Examples that have no place there are
// returned.
func sampleLines(lines []string, examples map[string]any) ([]sampleLine, map[string]any) {
	s := sampleText{before: map[int][]string{}, instead: map[int][]string{}, set: map[int]bool{}}
	var root yaml.Node
	if len(examples) > 0 && safeyaml.Unmarshal([]byte(strings.Join(lines, "\n")+"\n"), &root) == nil && len(root.Content) == 1 {
		examples = s.place(root.Content[0], examples, nil)
	}
	var all []sampleLine
	for i, line := range lines {
		for _, added := range s.before[i+1] {
			all = append(all, sampleLine{added, true})
		}
		if instead, ok := s.instead[i+1]; ok {
			for _, added := range instead {
				all = append(all, sampleLine{added, true})
			}
			continue
		}
		all = append(all, sampleLine{line, s.set[i+1]})
	}
	return all, examples
}

// A sampleText collects changes of lines, by their numbers.
type sampleText struct {
	before, instead map[int][]string
	set             map[int]bool
}

// place adds examples to the mapping of a key, and returns those that have no place in it. New keys at the top, without a key, have none.
func (s *sampleText) place(mapping *yaml.Node, examples map[string]any, of *yaml.Node) map[string]any {
	left := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		example := examples[name]
		at := safeyaml.ChildIndex(mapping, name)
		if at < 0 {
			if of == nil {
				left[name] = example
			} else {
				s.before[of.Line+1] = append(s.before[of.Line+1], indented(map[string]any{name: example}, mapping.Content[0].Column-1)...)
			}
			continue
		}
		key, value := mapping.Content[at], mapping.Content[at+1]
		inner, isMapping := example.(map[string]any)
		switch {
		case isMapping && value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0 && len(value.Content) > 0:
			s.set[key.Line] = true
			s.place(value, inner, key)
		case value.Kind == yaml.ScalarNode && value.Line == key.Line && value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0,
			value.Kind == yaml.MappingNode && len(value.Content) == 0 && value.Line == key.Line:
			text := indented(map[string]any{name: example}, key.Column-1)
			if value.LineComment != "" && len(text) == 1 {
				text[0] += " " + value.LineComment
			}
			s.instead[key.Line] = text
		default:
			left[name] = example
		}
	}
	return left
}

// indented returns the lines of a mapping.
func indented(values map[string]any, indent int) []string {
	data, err := sigsyaml.Marshal(values)
	if err != nil {
		return nil // examples can be encoded
	}
	lines := textLines(data)
	for i := range lines {
		lines[i] = strings.Repeat(" ", indent) + lines[i]
	}
	return lines
}
