package base

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// Finding is something wrong at a place in a file.
type Finding struct {
	File         string
	Line, Column int
	Message      string
}

// String gives the finding as one line.
func (f Finding) String() string {
	switch {
	case f.Line == 0:
		return f.File + ": " + f.Message
	case f.Column == 0:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}

// Findings are all that is wrong with a file.
type Findings []Finding

// Error lists the findings, one a line.
func (f Findings) Error() string {
	lines := make([]string, len(f))
	for i, finding := range f {
		lines[i] = finding.String()
	}
	return strings.Join(lines, "\n")
}

// yamlLine finds the lines in messages of the YAML library.
var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

// byParser finds the messages of the YAML library's parser among those of its scanner.
var byParser = regexp.MustCompile(`^did not find expected (node content|',' or '[]}]'|key|'-' indicator|<)`)

// yamlFindings places the errors of the YAML library.
func yamlFindings(name string, err error) Findings {
	messages := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if typed, ok := errors.AsType[*yaml.TypeError](err); ok {
		messages = typed.Errors
	}
	var findings Findings
	for _, message := range messages {
		finding := Finding{File: name, Message: message}
		if m := yamlLine.FindStringSubmatch(message); m != nil {
			finding.Line, _ = strconv.Atoi(m[1])
			finding.Message = m[2]
			if byParser.MatchString(m[2]) {
				finding.Line++ // the library counts these from 0
			}
		}
		finding.Message = strings.TrimSuffix(finding.Message, " in type base.metadataFile")
		findings = append(findings, finding)
	}
	return findings
}

// existing is a base as it stands in a file.
type existing struct {
	name string
	root *yaml.Node
	csv  map[string]any
}

// read reads a base. It has the form that the Go type of a CSV gives it, and besides whatever that does not know.
func read(name string, data []byte) (*existing, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	e := &existing{name: name}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, yamlFindings(name, err)
		}
		node := document.Content[0]
		if node.Tag == "!!null" {
			continue
		}
		if e.root != nil {
			return nil, Findings{e.at(node, "there is a second object; the file must hold the ClusterServiceVersion alone")}
		}
		e.root = node
	}
	if e.root == nil {
		return nil, Findings{{File: name, Message: "the file is empty; remove it for a new base, or restore it"}}
	}
	if kind := e.find("kind"); e.root.Kind != yaml.MappingNode || kind == nil || kind.Value != v1alpha1.ClusterServiceVersionKind {
		at := e.root
		if kind != nil {
			at = kind
		}
		return nil, Findings{e.at(at, "the file must hold an object of kind "+v1alpha1.ClusterServiceVersionKind)}
	}
	findings := e.duplicates(e.root)
	// The library takes the first document, which may be an empty one before this.
	text := bytes.Join(bytes.SplitAfter(data, []byte("\n"))[e.root.Line-1:], nil)
	asJSON, err := sigsyaml.YAMLToJSON(text)
	if err != nil {
		return nil, append(findings, yamlFindings(name, err)...)
	}
	var raw map[string]any
	if err := utiljson.Unmarshal(asJSON, &raw); err != nil {
		return nil, append(findings, Finding{File: name, Message: err.Error()})
	}
	typed := &v1alpha1.ClusterServiceVersion{}
	if err := json.Unmarshal(asJSON, typed); err != nil {
		findings = append(findings, e.typeFindings(raw, err)...)
	}
	if len(findings) > 0 {
		return nil, findings
	}
	if e.csv, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	delete(e.csv, "status")
	dropTimestamps(e.csv)
	restore(e.csv, raw)
	return e, nil
}

func (e *existing) at(node *yaml.Node, message string) Finding {
	return Finding{File: e.name, Line: node.Line, Column: node.Column, Message: message}
}

// find is the node at a path, or that of the nearest parent where there is none.
func (e *existing) find(path ...any) *yaml.Node {
	node := e.root
	for _, step := range path {
		switch step := step.(type) {
		case string:
			next := valueOf(node, step)
			if next == nil {
				return nil
			}
			node = next
		case int:
			if node.Kind != yaml.SequenceNode || step >= len(node.Content) {
				return nil
			}
			node = node.Content[step]
		}
	}
	return node
}

func valueOf(node *yaml.Node, key string) *yaml.Node {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if strings.EqualFold(node.Content[i].Value, key) {
			return node.Content[i+1]
		}
	}
	return nil
}

// duplicates finds keys that a mapping holds twice, of which all but one would be lost.
func (e *existing) duplicates(node *yaml.Node) Findings {
	var findings Findings
	seen := map[string]int{}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			if line, ok := seen[child.Value]; ok {
				findings = append(findings, e.at(child, fmt.Sprintf("the key %s stands in line %d already", child.Value, line)))
			}
			seen[child.Value] = child.Line
		}
		findings = append(findings, e.duplicates(child)...)
	}
	return findings
}

// typeFindings finds everything that is not of the form of a CSV. The decoder stops at the first error, so it
// is given the parts one by one.
func (e *existing) typeFindings(raw map[string]any, whole error) Findings {
	var findings Findings
	for _, part := range []string{"metadata", "spec"} {
		fields, ok := raw[part].(map[string]any)
		if !ok {
			continue
		}
		for key, value := range fields {
			data, err := json.Marshal(map[string]any{part: map[string]any{key: value}})
			if err != nil {
				continue
			}
			if err := json.Unmarshal(data, &v1alpha1.ClusterServiceVersion{}); err != nil {
				findings = append(findings, e.typeFinding(err, part, key))
			}
		}
	}
	if len(findings) == 0 {
		findings = append(findings, e.typeFinding(whole))
	}
	slices.SortFunc(findings, func(a, b Finding) int { return a.Line - b.Line })
	return findings
}

func (e *existing) typeFinding(err error, path ...any) Finding {
	node := e.find(path...)
	names := make([]string, 0, len(path))
	for _, step := range path {
		names = append(names, fmt.Sprint(step))
	}
	message := err.Error()
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		names = strings.Split(typed.Field, ".")
		message = fmt.Sprintf("must be %s, not %s", form(typed.Type.Kind().String()), typed.Value)
		for n := len(names); n > 0; n-- {
			if found := anywhere(e.root, names[:n], typed.Value); found != nil {
				node = found
				break
			}
		}
	}
	if node == nil {
		node = e.root
	}
	return e.at(node, strings.Join(names, ".")+": "+message)
}

// anywhere is the first node at a path in which the indices of lists are left out, one of the form that the
// decoder found there rather than another.
func anywhere(node *yaml.Node, names []string, form string) *yaml.Node {
	switch {
	case node == nil:
		return nil
	case len(names) == 0 && formOf(node) == form:
		return node
	case node.Kind == yaml.SequenceNode:
		var first *yaml.Node
		for _, item := range node.Content {
			if found := anywhere(item, names, form); found != nil {
				if first == nil || formOf(found) == form && formOf(first) != form {
					first = found
				}
			}
		}
		if len(names) > 0 || first != nil {
			return first
		}
		return node
	case len(names) == 0:
		return node
	}
	return anywhere(valueOf(node, names[0]), names[1:], form)
}

// formOf is the form of a node as the JSON decoder calls it.
func formOf(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "object"
	case node.Kind == yaml.SequenceNode:
		return "array"
	case node.Tag == "!!bool":
		return "bool"
	case node.Tag == "!!int", node.Tag == "!!float":
		return "number"
	}
	return "string"
}

// form names a kind of Go types as YAML does.
func form(kind string) string {
	switch {
	case kind == "slice" || kind == "array":
		return "a list"
	case kind == "struct" || kind == "map":
		return "a mapping"
	case strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "uint") || strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "bool":
		return "true or false"
	case kind == "string":
		return "a text; put it into quotes if it is one"
	}
	return "a " + kind
}

// dropTimestamps takes away what the Go types add to every metadata.
func dropTimestamps(value any) {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "creationTimestamp")
		for _, inner := range value {
			dropTimestamps(inner)
		}
	case []any:
		for _, inner := range value {
			dropTimestamps(inner)
		}
	}
}
