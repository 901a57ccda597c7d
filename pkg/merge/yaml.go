package merge

import (
	"errors"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// parseYAML parses a YAML file. Units are documents, fields and list items and, in a kustomization, commented entries;
// see Node.Off. It is an error if the file cannot be decoded or its lines do not divide into units. Parts with anchors,
// aliases or flow style are leaves.
func parseYAML(name string, text []byte) (*Node, error) {
	y := &yamlParser{lines: splitLines(text), kustomization: isKustomization(name)}
	root := &Node{Container: true}
	docs, err := safeyaml.Documents[yaml.Node]([]byte(strings.Join(y.lines, "")))
	if err != nil {
		return nil, err
	}
	at := 0
	for _, doc := range docs {
		if len(doc.Content) == 1 && doc.Content[0].Tag != "!!null" {
			n, end := y.document(doc.Content[0], at)
			root.Nodes, at = append(root.Nodes, n), end
		}
	}
	root.Tail = y.lines[at:]
	number(root.Nodes)
	if !slices.Equal(root.Lines(), y.lines) {
		return nil, errors.New("its form is not supported")
	}
	return root, nil
}

func isKustomization(name string) bool {
	switch path.Base(name) {
	case "kustomization.yaml", "kustomization.yml", "Kustomization":
		return true
	}
	return false
}

type yamlParser struct {
	lines         []string
	kustomization bool
}

// document parses a document whose comments begin at a line, and returns the line after it.
func (y *yamlParser) document(doc *yaml.Node, from int) (*Node, int) {
	n := &Node{Key: "document", Container: true}
	start := doc.Line - 1
	for i := from; i < start; i++ {
		if isDocumentMark(y.lines[i]) {
			n.Lead, n.Head, from = y.lines[from:i], y.lines[i:i+1], i+1
		}
	}
	if !y.isBlockMapping(doc) {
		n.Container = false
		end := y.end(doc, start, len(y.lines), -1)
		n.Head = append(n.Head[:len(n.Head):len(n.Head)], y.lines[from:end]...)
		return n, end
	}
	if !y.kustomization {
		if kind := safeyaml.ChildText(doc, "kind"); kind != "" {
			n.Key = kind
		}
	}
	limit := len(y.lines)
	for i := start; i < limit; i++ {
		if isDocumentMark(y.lines[i]) && i > from {
			limit = i
		}
	}
	var end int
	n.Nodes, end = y.mapping(doc, from, limit)
	if y.kustomization && len(n.Nodes) > 0 {
		var options []*Node
		options, end = y.options(n.Nodes[len(n.Nodes)-1], end, limit)
		n.Nodes = append(n.Nodes, options...)
		number(n.Nodes)
	}
	return n, end
}

func isDocumentMark(line string) bool {
	rest, ok := strings.CutPrefix(line, "---")
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " \t\n"))
}

// isBlockMapping reports whether a node is a mapping in block style without anchors in it.
func (y *yamlParser) isBlockMapping(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && n.Anchor == "" && len(n.Content) > 0
}

// mapping parses the fields of a mapping. Their lines begin at from, with comments, and end before limit.
func (y *yamlParser) mapping(n *yaml.Node, from, limit int) ([]*Node, int) {
	var fields []*Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		start := key.Line - 1
		next := limit
		if i+2 < len(n.Content) {
			next = n.Content[i+2].Line - 1
		}
		if start < from || next <= start { // two fields on one line, as in flow style
			return []*Node{{Key: "fields", Head: y.lines[from:max(from, y.end(n, start, limit, key.Column-2))]}}, max(from, y.end(n, start, limit, key.Column-2))
		}
		field := &Node{Key: y.fieldName(key.Value), Indent: key.Column - 1}
		if y.kustomization && len(fields) > 0 {
			var options []*Node
			options, from = y.options(fields[len(fields)-1], from, start)
			fields = append(fields, options...)
		}
		field.Lead = y.lines[from:start]
		from = y.value(field, value, start, next)
		fields = append(fields, field)
	}
	number(fields)
	return fields, from
}

// fieldName returns the current name of a kustomization field.
func (y *yamlParser) fieldName(name string) string {
	if y.kustomization {
		switch name {
		case "bases":
			return "resources"
		case "patchesStrategicMerge", "patchesJson6902":
			return "patches"
		}
	}
	return name
}

// value parses the value of a field or item into its node, and returns the line after it.
func (y *yamlParser) value(n *Node, value *yaml.Node, start, limit int) int {
	end := y.end(value, start, limit, n.Indent)
	switch {
	case value.Line-1 == start && value.Kind != yaml.MappingNode, value.Line-1 < start, value.Anchor != "", hasAlias(value):
		n.Head = y.lines[start:end]
	case y.isBlockMapping(value) && value.Line-1 > start:
		n.Container, n.Head = true, y.lines[start:start+1]
		n.Nodes, end = y.mapping(value, start+1, limit)
	case value.Kind == yaml.SequenceNode && value.Style&yaml.FlowStyle == 0 && value.Line-1 > start:
		n.Container, n.Head = true, y.lines[start:start+1]
		n.Splittable = y.kustomization
		n.Nodes, end = y.sequence(value, start+1, limit)
	default:
		n.Head = y.lines[start:end]
	}
	if y.kustomization && isListField(n.Key) {
		n.Container, n.Splittable = true, true
	}
	return end
}

// isListField reports whether a field of a kustomization is a list of independent entries.
func isListField(name string) bool {
	switch name {
	case "resources", "components", "patches", "configurations", "replacements", "vars", "generators", "transformers":
		return true
	}
	return false
}

func (y *yamlParser) sequence(n *yaml.Node, from, limit int) ([]*Node, int) {
	var items []*Node
	for i, value := range n.Content {
		start, next := value.Line-1, limit
		if i+1 < len(n.Content) {
			next = n.Content[i+1].Line - 1
		}
		// Comments between the dash and the value belong to the item.
		for start > from && !strings.HasPrefix(strings.TrimLeft(y.lines[start], " "), "-") {
			start--
		}
		item := &Node{Key: itemKey(value), Indent: n.Column - 1}
		if y.kustomization {
			options, end := y.optionUnits(from, start)
			items, from = append(items, options...), end
		}
		item.Lead = y.lines[from:start]
		if y.isBlockMapping(value) && value.Line-1 == start && value.Content[0].Line-1 == start {
			item.Container, item.Item = true, true
			item.Nodes, from = y.mapping(value, start, next)
		} else {
			from = y.end(value, start, next, n.Column-1)
			item.Head = y.lines[start:from]
		}
		items = append(items, item)
	}
	number(items)
	return items, from
}

// end returns the line after a value, without following comments and blank lines.
func (y *yamlParser) end(value *yaml.Node, start, limit, indent int) int {
	end := start + 1
	block := hasBlockScalar(value)
	for i := start + 1; i < limit; i++ {
		text := strings.TrimLeft(y.lines[i], " ")
		switch {
		case isBlank(text):
		case text[0] != '#', block && len(y.lines[i])-len(text) > indent:
			end = i + 1
		}
	}
	return end
}

// hasBlockScalar reports whether the last value in a node is a block scalar, which may contain "#".
func hasBlockScalar(n *yaml.Node) bool {
	if len(n.Content) > 0 {
		return hasBlockScalar(n.Content[len(n.Content)-1])
	}
	return n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

func hasAlias(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return true
	}
	return slices.ContainsFunc(n.Content, hasAlias)
}

// itemKey returns the identifier of a list item: a flag by its name, an object by its name, a file by its path, a rule
// of a role by its resources.
func itemKey(n *yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		if flag, _, ok := strings.Cut(n.Value, "="); ok && strings.HasPrefix(flag, "--") {
			return flag
		}
		return n.Value
	case yaml.MappingNode:
		for _, field := range []string{"name", "path", "containerPort", "port"} {
			if value := safeyaml.ChildText(n, field); value != "" {
				return value
			}
		}
		for _, field := range []string{"source", "apiGroups", "nonResourceURLs", "target"} {
			if at := safeyaml.ChildIndex(n, field); at >= 0 {
				return field + " " + flatText(n.Content[at+1]) + " " + listText(n, "resources")
			}
		}
		return n.Content[0].Value
	}
	return ""
}

// flatText returns the keys and values in a node in one line.
func flatText(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	var all []string
	for _, child := range n.Content {
		all = append(all, flatText(child))
	}
	return strings.Join(all, " ")
}

func listText(n *yaml.Node, field string) string {
	if at := safeyaml.ChildIndex(n, field); at >= 0 {
		return flatText(n.Content[at+1])
	}
	return ""
}

// alignRules copies the keys of rules of roles in ours to rules in theirs with other API groups but the same resources.
func alignRules(ours, theirs *Node) {
	for _, t := range theirs.Nodes {
		if o := ours.child(t.Key); o != nil {
			alignRules(o, t)
			continue
		}
		resources := ruleResources(t)
		i := slices.IndexFunc(ours.Nodes, func(o *Node) bool {
			return resources != "" && ruleResources(o) == resources && theirs.child(o.Key) == nil
		})
		if i >= 0 {
			t.Key = ours.Nodes[i].Key
		}
	}
}

// ruleResources returns the resources of a role's rule, or "".
func ruleResources(n *Node) string {
	list := n.child("resources")
	if list == nil || !strings.HasPrefix(n.Key, "apiGroups ") {
		return ""
	}
	var all []string
	for _, item := range list.Nodes {
		all = append(all, item.Key)
	}
	return strings.Join(all, " ")
}
