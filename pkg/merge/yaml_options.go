package merge

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// Scaffolds offer options in kustomizations as commented entries:
//
//	#- ../webhook
//	#replacements:
//	# - source:
//
// The user enables one by removing the comment signs. Such an entry is a unit with the key of its enabled form, so that
// a merge recognizes it.

// optionEntry matches the first line of a list entry, optionField the first line of a field, and markerComment a marker at which
// commands insert text.
var (
	optionEntry   = lazyregexp.New(`^( *)#( ?)(- *\S.*)$`)
	optionField   = lazyregexp.New(`^#( ?)(resources|components|patches|patchesStrategicMerge|patchesJson6902|vars|replacements|configurations):\s*$`)
	markerComment = lazyregexp.New(`^\s*#\s*\+(kubebuilder|operator-sdk|operon):scaffold:(\S+)\s*$`)
)

// options finds the entries in the comments after a field: list entries become units of the list, fields are returned,
// with the line after them.
func (y *yamlParser) options(last *Node, from, to int) ([]*Node, int) {
	units, end := y.optionUnits(from, to)
	entries := 0
	if last.Container {
		for entries < len(units) && !units[entries].Splittable {
			entries++
		}
	}
	last.Nodes = append(last.Nodes, units[:entries]...)
	number(last.Nodes)
	return units[entries:], end
}

// optionUnits returns the units in the comments from a line to another, and the line after the last of them.
func (y *yamlParser) optionUnits(from, to int) ([]*Node, int) {
	var units []*Node
	for i := from; i < to; {
		line := strings.TrimRight(y.lines[i], " \r\n")
		var n *Node
		end := i + 1
		if m := markerComment.FindStringSubmatch(line); m != nil {
			n = &Node{Key: "marker " + m[2], Indent: len(line) - len(strings.TrimLeft(line, " "))}
		} else if m := optionEntry.FindStringSubmatch(line); m != nil {
			end = y.optionEnd(i, to, len(m[2]), false)
			if on := y.switchedOn("options:\n", i, end); on != nil && len(on.Nodes) == 1 && on.Nodes[0].Key != "" {
				n = &Node{Key: on.Nodes[0].Key, Off: true, On: on.Nodes[0], Indent: len(m[1])}
			}
		} else if m := optionField.FindStringSubmatch(line); m != nil {
			end = y.optionEnd(i, to, len(m[1]), true)
			n = &Node{Key: y.fieldName(m[2]), Off: true, On: y.switchedOn("", i, end), Splittable: true}
		}
		if n == nil {
			i++
			continue
		}
		n.Lead, n.Head = y.lines[from:i], y.lines[i:end]
		units = append(units, n)
		from, i = end, end
	}
	return units, from
}

// optionEnd returns the line after a commented entry or field, to which comments belong that are indented further than
// text or that are entries of the field.
func (y *yamlParser) optionEnd(start, to, indent int, field bool) int {
	end := start + 1
	for ; end < to; end++ {
		text, ok := strings.CutPrefix(strings.TrimLeft(y.lines[end], " "), "#")
		rest := strings.TrimLeft(text, " ")
		if !ok || isBlank(rest) || markerComment.MatchString(y.lines[end]) {
			break
		}
		if depth := len(text) - len(rest); depth <= indent+1 && (!field || rest[0] != '-') {
			break
		}
	}
	return end
}

// switchedOn parses the enabled form of a commented entry or field. An entry needs a preceding field. It returns the
// field, or nil for other comments.
func (y *yamlParser) switchedOn(field string, start, end int) *Node {
	text := field
	for _, line := range y.lines[start:end] {
		text += strings.Replace(line, "#", "", 1)
	}
	root, err := parseYAML("kustomization.yaml", []byte(text))
	if err != nil || len(root.Nodes) != 1 || len(root.Nodes[0].Nodes) != 1 {
		return nil
	}
	return root.Nodes[0].Nodes[0]
}
