package watches

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// maxBytes limits the size of a file.
const maxBytes = 1 << 20

// Parse reads a file named FileName. The error has all findings with their positions. A file without entries, or without content,
// is valid.
func Parse(data []byte) ([]Watch, error) { return ParseFile(FileName, data) }

// ParseFile is Parse for a file with another name, which is that of the positions.
func ParseFile(name string, data []byte) ([]Watch, error) {
	p := &parser{file: name}
	root, err := p.document(data)
	if err != nil {
		return nil, err
	}
	watches := p.entries(root)
	if err := p.findings.Sort().Err(); err != nil {
		return nil, err
	}
	return watches, nil
}

// A parser collects the findings of a file.
type parser struct {
	file     string
	findings diag.Findings
}

func (p *parser) at(node *yaml.Node) diag.Position {
	return diag.Position{File: p.file, Line: node.Line, Column: node.Column}
}

func (p *parser) addf(node *yaml.Node, format string, args ...any) {
	p.findings.Addf(p.at(node), format, args...)
}

// document returns the list of the file, or nil if there is none.
func (p *parser) document(data []byte) (*yaml.Node, error) {
	fail := func(line int, problem string, cause error) error {
		return diag.Finding{Position: diag.Position{File: p.file, Line: line}, Problem: problem, Err: cause}
	}
	if len(data) > maxBytes {
		limit := safeyaml.TooLarge(int64(len(data)), maxBytes)
		return nil, fail(0, "the file "+limit.Problem, limit)
	}
	var document *yaml.Node
	for decoder := safeyaml.NewDecoder(data); ; {
		var next yaml.Node
		err := decoder.Decode(&next)
		if limit, ok := errors.AsType[*safeyaml.Error](err); ok {
			return nil, fail(limit.Line, "the file "+limit.Problem, limit)
		}
		switch {
		case errors.Is(err, io.EOF):
			return document, nil
		case err != nil:
			return nil, fail(0, "not valid YAML: "+syntaxProblem(err), err)
		case document != nil && !isNull(document):
			return nil, diag.Finding{Position: p.at(next.Content[0]), Problem: "a second YAML document starts here", Fix: "write all entries in one list"}
		}
		document = next.Content[0]
	}
}

// entries reads the list.
func (p *parser) entries(root *yaml.Node) []Watch {
	if root == nil || isNull(root) {
		return nil
	}
	if root = resolve(root); root.Kind != yaml.SequenceNode {
		p.addf(root, "must be a list of entries with group, version, kind and chart")
		return nil
	}
	var watches []Watch
	first := map[string]int{}
	for _, node := range root.Content {
		entry := resolve(node)
		if entry.Kind != yaml.MappingNode {
			p.addf(node, "an entry must have the keys group, version, kind and chart")
			continue
		}
		w := p.entry(entry)
		w.Position = p.at(node)
		key := fmt.Sprintf("%s/%s, Kind=%s", w.Group, w.Version, w.Kind)
		if line, ok := first[key]; ok && w.Kind != "" {
			p.addf(node, "group, version and kind are those of the entry in line %d; remove one of the two", line)
		} else {
			first[key] = node.Line
		}
		watches = append(watches, w)
	}
	return watches
}

// ansibleKeys are the keys of entries of Ansible operators that entries of Helm operators do not have.
var ansibleKeys = []string{"playbook", "role", "vars", "finalizer", "manageStatus", "watchClusterScopedResources", "snakeCaseParameters", "markUnsafe", "maxRunnerArtifacts", "watchAnnotationsChanges", "blacklist"}

// entry reads an entry.
func (p *parser) entry(node *yaml.Node) Watch {
	w := Watch{WatchDependentResources: true}
	readers := w.readers(p)
	seen := map[string]int{}
	for key, value := range safeyaml.Fields(node) {
		read, ok := readers[key.Value]
		line, repeated := seen[key.Value]
		switch {
		case repeated:
			p.addf(key, "key %q is given twice, first in line %d", key.Value, line)
		case key.Kind != yaml.ScalarNode:
			p.addf(key, "a key must be a name")
		case !ok && slices.Contains(ansibleKeys, key.Value):
			p.addf(key, "key %q belongs to Ansible operators; an entry of a Helm operator has no such key", key.Value)
		case !ok:
			p.unknownKey(key, slices.Sorted(maps.Keys(readers)))
		case isNull(value):
			// As without the key.
		default:
			read(resolve(value))
		}
		seen[key.Value] = key.Line
	}
	for _, required := range []struct{ key, value string }{{"version", w.Version}, {"kind", w.Kind}, {"chart", w.Chart}} {
		value := safeyaml.Child(node, required.key)
		if required.value == "" && (value == nil || isNull(value) || resolve(value).Kind == yaml.ScalarNode && resolve(value).Value == "") {
			p.addf(node, "%s is required", required.key)
		}
	}
	return w
}

// unknownKey adds a finding with the nearest key.
func (p *parser) unknownKey(key *yaml.Node, known []string) {
	if near, ok := diag.Nearest(key.Value, known); ok {
		p.addf(key, "unknown key %q; did you mean %q?", key.Value, near)
		return
	}
	p.addf(key, "unknown key %q", key.Value)
}

// resolve returns the node that an alias refers to.
func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

func isNull(node *yaml.Node) bool {
	node = resolve(node)
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}
