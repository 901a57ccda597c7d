package watches

import (
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// maxBytes limits the size of a file.
const maxBytes = 1 << 20

// Parse reads a file of a Helm operator named FileName. The error has all findings with their positions. A file without entries, or
// without content, is valid.
func Parse(data []byte) ([]Watch, error) { return ParseFile(FileName, data) }

// ParseFile is Parse for a file with another name, which appears in positions.
func ParseFile(name string, data []byte) ([]Watch, error) {
	return parse(helmFormat(), &parser{file: name}, data)
}

func parse[W any](f format[W], p *parser, data []byte) ([]W, error) {
	root, err := p.document(data)
	if err != nil {
		return nil, err
	}
	watches := entries(f, p, root)
	if err := p.findings.Sort().Err(); err != nil {
		return nil, err
	}
	return watches, nil
}

// A parser collects the findings of a file.
type parser struct {
	file     string
	findings diag.Findings
	// expanded maps positions to those before the expansion of variables.
	expanded *expansion
	// lenient accepts values that contain variables.
	lenient bool
}

func (p *parser) at(node *yaml.Node) diag.Position {
	line, column := p.expanded.original(node.Line, node.Column)
	return diag.Position{File: p.file, Line: line, Column: column}
}

func (p *parser) addf(node *yaml.Node, format string, args ...any) {
	p.findings.Addf(p.at(node), format, args...)
}

// document returns the list of the file, or nil if there is none.
func (p *parser) document(data []byte) (*yaml.Node, error) {
	fail := func(line int, problem string, cause error) error {
		line, _ = p.expanded.original(line, 1)
		return diag.Finding{Position: diag.Position{File: p.file, Line: line}, Problem: problem, Err: cause}
	}
	if len(data) > maxBytes {
		limit := safeyaml.TooLarge(int64(len(data)), maxBytes)
		return nil, fail(0, "the file "+limit.Problem, limit)
	}
	documents, err := safeyaml.Documents[yaml.Node](data)
	if limit, ok := errors.AsType[*safeyaml.Error](err); ok {
		return nil, fail(limit.Line, "the file "+limit.Problem, limit)
	}
	var document *yaml.Node
	for _, next := range documents {
		if document != nil && !isNull(document) {
			return nil, diag.Finding{Position: p.at(next.Content[0]), Problem: "a second YAML document starts here", Fix: "write all entries in one list"}
		}
		document = next.Content[0]
	}
	if err != nil {
		return nil, fail(0, "not valid YAML: "+p.expanded.originalLines(syntaxProblem(err)), err)
	}
	return document, nil
}

func entries[W any](f format[W], p *parser, root *yaml.Node) []W {
	if root == nil || isNull(root) {
		return nil
	}
	if root = safeyaml.Resolve(root); root.Kind != yaml.SequenceNode {
		p.addf(root, "must be a list of entries with %s", f.required)
		return nil
	}
	var watches []W
	first := map[schema.GroupVersionKind]int{}
	for _, node := range root.Content {
		mapping := safeyaml.Resolve(node)
		if mapping.Kind != yaml.MappingNode {
			p.addf(node, "an entry must have the keys %s", f.required)
			continue
		}
		w := entry(f, p, mapping)
		gvk, position := f.identity(&w)
		*position = p.at(node)
		if line, ok := first[gvk]; ok && gvk.Kind != "" {
			p.addf(node, "group, version and kind are the same as in line %d; remove one of the two", line)
		} else {
			first[gvk] = position.Line
		}
		watches = append(watches, w)
	}
	checkCycles(f, p, watches)
	return watches
}

func entry[W any](f format[W], p *parser, node *yaml.Node) W {
	w := f.create()
	p.mapping(node, f.readers(&w, p), func(key *yaml.Node) bool {
		if !slices.Contains(f.foreignKeys, key.Value) {
			return false
		}
		p.addf(key, "key %q belongs to %s operators; an entry of %s operator has no such key", key.Value, f.foreignOperator, f.operator)
		return true
	})
	f.check(&w, p, node)
	return w
}

// mapping reads the keys of a mapping. Unknown keys are findings unless isForeign has reported them.
func (p *parser) mapping(node *yaml.Node, readers map[string]func(*yaml.Node), isForeign func(*yaml.Node) bool) {
	seen := map[string]int{}
	for key, value := range safeyaml.Fields(node) {
		read, ok := readers[key.Value]
		line, repeated := seen[key.Value]
		switch {
		case repeated:
			p.addf(key, "key %q is given twice, first in line %d", key.Value, line)
		case key.Kind != yaml.ScalarNode:
			p.addf(key, "a key must be a name")
		case !ok && isForeign != nil && isForeign(key):
		case !ok:
			p.unknownKey(key, sortedKeys(readers))
		case isNull(value):
			// As without the key.
		default:
			read(safeyaml.Resolve(value))
		}
		seen[key.Value] = p.at(key).Line
	}
}

// require adds a finding if a text is missing, unless its value is invalid, which is a finding already.
func (p *parser) require(node *yaml.Node, key, text string) {
	value := safeyaml.Child(node, key)
	if text == "" && (value == nil || isNull(value) || safeyaml.Resolve(value).Kind == yaml.ScalarNode && safeyaml.Resolve(value).Value == "") {
		p.addf(node, "%s is required", key)
	}
}

func (p *parser) unknownKey(key *yaml.Node, known []string) {
	if near, ok := diag.Nearest(key.Value, known); ok {
		p.addf(key, "unknown key %q; did you mean %q?", key.Value, near)
		return
	}
	p.addf(key, "unknown key %q", key.Value)
}

func isNull(node *yaml.Node) bool {
	node = safeyaml.Resolve(node)
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}
