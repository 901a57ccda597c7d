package ansiblerole

import (
	"iter"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
	"github.com/operon-sdk/operon/pkg/diag"
)

// fields yields the keys of a mapping that are texts, with their values. Merged mappings (<<) come first. Keys can be repeated, in
// rendered templates.
func fields(node *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		yieldFields(node, 0, yield)
	}
}

func yieldFields(node *yaml.Node, depth int, yield func(string, *yaml.Node) bool) bool {
	node = content(node)
	if node == nil || node.Kind != yaml.MappingNode || depth > 5 {
		return true
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Tag != "!!merge" {
			continue
		}
		merged := content(node.Content[i+1])
		sources := []*yaml.Node{merged}
		if merged != nil && merged.Kind == yaml.SequenceNode {
			sources = merged.Content
		}
		for _, source := range sources {
			if !yieldFields(source, depth+1, yield) {
				return false
			}
		}
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key := content(node.Content[i]); key != nil && key.Kind == yaml.ScalarNode && key.Tag != "!!merge" {
			if !yield(key.Value, content(node.Content[i+1])) {
				return false
			}
		}
	}
	return true
}

// field returns the last value of a key of a mapping, or nil.
func field(node *yaml.Node, keys ...string) *yaml.Node {
	var found *yaml.Node
	for key, child := range fields(node) {
		for _, name := range keys {
			if key == name {
				found = child
			}
		}
	}
	return found
}

// items returns the items of a list, or the node itself if it is not a list.
func items(node *yaml.Node) []*yaml.Node {
	switch node = content(node); {
	case node == nil:
		return nil
	case node.Kind == yaml.SequenceNode:
		return node.Content
	}
	return []*yaml.Node{node}
}

func (ev *evaluator) node(n *yaml.Node, s *scope) value {
	n = content(n)
	if n == nil {
		return value{alts: []any{null{}}}
	}
	if n.Kind != yaml.ScalarNode {
		return value{alts: []any{bound{n, s}}}
	}
	if n.Tag == "!!null" {
		return value{alts: []any{null{}}}
	}
	return ev.text(n.Value, s)
}

// text returns the value of a text with expressions and references.
func (ev *evaluator) text(text string, s *scope) value {
	if strings.Contains(text, referenceBegin) {
		return ev.templates.expand(text)
	}
	if !jinja.IsTemplate(text) {
		return textValue(text)
	}
	if ev.spend(1) {
		return anything()
	}
	if nodes := ev.templates.syntax(strings.TrimSpace(text)); len(nodes) == 1 {
		if output, ok := nodes[0].(jinja.Output); ok {
			return ev.evaluate(output.Value, s)
		}
	}
	rendered := withoutMarks(ev.templates.render(text, s, diag.Position{}, nil))
	if strings.Contains(strings.TrimSpace(rendered), "\n") {
		return textValue(rendered) // with references, as it can be an object
	}
	return ev.templates.expand(rendered)
}

func (ev *evaluator) get(of value, key string) value {
	result := value{open: of.open, settable: of.settable}
	for _, alt := range of.alts {
		if ev.spend(1) {
			return anything()
		}
		switch alt := alt.(type) {
		case bound:
			result = union(result, ev.getNode(alt, key))
		case list:
			result = union(result, getItem(alt.items, key))
		case *dict:
			result = union(result, ev.getField(alt, key))
		case rendered:
			for _, object := range ev.templates.documents(alt) {
				result = union(result, ev.getNode(object, key))
			}
		default:
			result.open = true
		}
	}
	return result
}

func (ev *evaluator) getField(of *dict, key string) value {
	if v, ok := of.fields[key]; ok {
		return v
	}
	memo := fieldKey{of, key}
	if v, ok := ev.fields[memo]; ok {
		return v
	}
	var result value
	for _, base := range of.bases {
		result = union(result, ev.get(base, key))
	}
	ev.fields[memo] = result
	return result
}

// A fieldKey is a key of a mapping.
type fieldKey struct {
	of  *dict
	key string
}

// getNode returns the value of a key of a mapping, or of an item of a list.
func (ev *evaluator) getNode(of bound, key string) value {
	if of.node.Kind == yaml.SequenceNode {
		return getItem(ev.itemsOf(value{alts: []any{of}}).items, key)
	}
	var result value
	for name, child := range fields(of.node) {
		if name == key {
			result = union(result, ev.node(child, of.scope))
		}
	}
	return result
}

// getItem returns an item of a list: the one with an index, or all of them.
func getItem(all []value, key string) value {
	if len(key) == 1 && key[0] >= '0' && key[0] <= '9' && int(key[0]-'0') < len(all) {
		return all[key[0]-'0']
	}
	return union(all...)
}

// itemsOf returns the items of a value that is a list, or of all lists that it can be. complete is false if there can be others.
func (ev *evaluator) itemsOf(v value) (result struct {
	items    []value
	complete bool
}) {
	result.complete = !v.open
	for _, alt := range v.alts {
		switch alt := alt.(type) {
		case bound:
			if alt.node.Kind != yaml.SequenceNode {
				result.items = append(result.items, value{alts: []any{alt}})
				continue
			}
			for _, item := range alt.node.Content {
				result.items = append(result.items, ev.node(item, alt.scope))
			}
		case list:
			result.items = append(result.items, alt.items...)
		case null, omitted:
		case rendered:
			for _, object := range ev.templates.documents(alt) {
				result.items = append(result.items, value{alts: []any{object}})
			}
		default:
			result.items = append(result.items, value{alts: []any{alt}})
		}
	}
	if len(v.settable) > 0 {
		result.items = slices.Clone(result.items)
		for i, item := range result.items {
			result.items[i] = item.dependingOn(v)
		}
	}
	ev.spend(len(result.items))
	return result
}
