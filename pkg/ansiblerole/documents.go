package ansiblerole

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// templates renders templates, and finds the objects in the results.
type templates struct {
	*progress
	files    *reader
	eval     *evaluator
	syntaxes map[string][]jinja.Node
	// objects are the objects of the rendered templates, and depth is how many templates are being rendered.
	objects map[documentKey][]bound
	depth   int
	// references are the values that rendered texts refer to, by their numbers.
	references []value
}

// documents returns the objects in the text of a template or file.
func (t *templates) documents(r rendered) []bound {
	key := documentKey(r)
	if objects, ok := t.objects[key]; ok || t.depth > 10 {
		return objects
	}
	t.depth++
	defer func() { t.depth-- }()
	t.objects[key] = nil // a template can refer to itself
	s := r.scope.child()
	s.dir = home + "/" + parent(r.file)
	objects := t.textDocuments(t.files.read(r.file), s, r.file, 1)
	t.objects[key] = objects
	return objects
}

// A documentKey is a template in a scope.
type documentKey struct {
	file  string
	scope *scope
}

// textDocuments returns the objects in a text of YAML with expressions, which begins on a line of a file, and in the templates that it
// includes.
func (t *templates) textDocuments(text string, s *scope, file string, line int) []bound {
	var included inclusion
	lines, origins := originalLines(t.render(text, s, diag.Position{File: file}, &included))
	objects := included.objects
	start := 0
	flush := func(end int) {
		for _, node := range t.parse(lines[start:end]) {
			setLines(node, line, origins[start:], 0)
			t.files.places[node] = place{file, max(1, node.Line)}
			objects = append(objects, bound{node, s})
		}
	}
	for i, l := range lines {
		if l == "---" || strings.HasPrefix(l, "--- ") {
			flush(i)
			start = i + 1
		}
	}
	flush(len(lines))
	return objects
}

// setLines turns the lines of nodes in a document into lines of the file, in which the document begins on a line. The origins are the
// indexes of the document's lines in that text.
func setLines(node *yaml.Node, line int, origins []int, depth int) {
	if depth > 2 { // only objects and their fields are reported
		return
	}
	node.Line = line + origins[max(0, min(node.Line, len(origins))-1)]
	for _, child := range node.Content {
		setLines(child, line, origins, depth+1)
	}
}

// parseSteps are the steps of a document, in addition to its lines.
const parseSteps = 300

// parse returns the mappings or lists in the lines of a document. Lines with nothing but references are skipped, as they stand for
// fields or items of unknown number. A document that still is not YAML has the fields that its lines contain.
func (t *templates) parse(lines []string) []*yaml.Node {
	if t.spend(parseSteps + 10*len(lines)) {
		return nil
	}
	cleaned := slices.Clone(lines)
	for i, l := range cleaned {
		if trimmed := strings.TrimSpace(l); strings.HasPrefix(trimmed, referenceBegin) && !strings.Contains(trimmed, ":") {
			cleaned[i] = ""
		}
		cleaned[i] = strings.ReplaceAll(cleaned[i], "\t", "  ")
	}
	text := strings.Join(cleaned, "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	documents, err := safeyaml.Documents[yaml.Node]([]byte(text))
	if err != nil {
		return scan(cleaned)
	}
	var nodes []*yaml.Node
	for _, document := range documents {
		switch node := content(document); {
		case node == nil:
		case node.Kind == yaml.MappingNode:
			nodes = append(nodes, node)
		case node.Kind == yaml.SequenceNode:
			for _, item := range node.Content {
				if item = content(item); item != nil && item.Kind == yaml.MappingNode {
					nodes = append(nodes, item)
				}
			}
		}
	}
	return nodes
}

// scanned matches a line with the kind or the API version of an object.
var scanned = lazyregexp.New(`^([ ]*(?:- )?[ ]*)["']?(apiVersion|kind)["']?:[ ]+["']?([^"',#\s]+)["']?,?[ ]*(?:#.*)?$`)

// scan returns a mapping with the kinds and API versions of the least indented lines that have both.
func scan(lines []string) []*yaml.Node {
	byIndent := map[int]*yaml.Node{}
	for i, l := range lines {
		match := scanned.FindStringSubmatch(l)
		if match == nil {
			continue
		}
		indent := len(match[1])
		if byIndent[indent] == nil {
			byIndent[indent] = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: i + 1}
		}
		scalar := func(text string) *yaml.Node {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: i + 1}
		}
		byIndent[indent].Content = append(byIndent[indent].Content, scalar(match[2]), scalar(match[3]))
	}
	for _, indent := range slices.Sorted(maps.Keys(byIndent)) {
		node := byIndent[indent]
		if kind := field(node, "kind"); kind != nil && kind.Value != "List" && field(node, "apiVersion") != nil {
			return []*yaml.Node{node}
		}
	}
	return nil
}

// parsed returns the values of texts of YAML.
func (t *templates) parsed(v value) value {
	result := value{open: v.open}
	for _, alt := range v.alts {
		text, ok := alt.(string)
		if !ok {
			result = union(result, value{alts: []any{alt}})
			continue
		}
		text = strings.ReplaceAll(text, unknown, t.refer(anything()))
		nodes := []*yaml.Node{}
		for document := range strings.SplitSeq(text, "\n---") {
			nodes = append(nodes, t.parse(strings.Split(document, "\n"))...)
		}
		for _, node := range nodes {
			result = union(result, value{alts: []any{bound{node, &scope{}}}})
		}
		result.open = result.open || len(nodes) == 0
	}
	return result
}

func (t *templates) syntax(text string) []jinja.Node {
	nodes, ok := t.syntaxes[text]
	if !ok {
		nodes = jinja.Parse(text)
		t.syntaxes[text] = nodes
	}
	return nodes
}
