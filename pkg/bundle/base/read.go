package base

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// An existing is the content of a base file.
type existing struct {
	name string
	root *yaml.Node
	csv  map[string]any
}

// Describe returns the texts of a base that describe the operator, without links and icon. It validates the base; the error is a diag.Findings.
func Describe(name string, data []byte) (Metadata, error) {
	e, err := read(name, data)
	if err != nil {
		return Metadata{}, err
	}
	var csv v1alpha1.ClusterServiceVersion
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(e.csv, &csv); err != nil {
		return Metadata{}, fmt.Errorf("%s: %w", name, err)
	}
	m := Metadata{
		DisplayName: csv.Spec.DisplayName, Description: csv.Spec.Description, ProviderName: csv.Spec.Provider.Name, ProviderURL: csv.Spec.Provider.URL,
		Keywords: csv.Spec.Keywords, Maturity: csv.Spec.Maturity, MinKubeVersion: csv.Spec.MinKubeVersion,
	}
	for _, one := range csv.Spec.Maintainers {
		m.Maintainers = append(m.Maintainers, Maintainer{Name: one.Name, Email: one.Email})
	}
	return m, nil
}

// read parses a base, which has the fields of the Go type of a CSV and any unknown ones.
func read(name string, data []byte) (*existing, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	e := &existing{name: name}
	documents, err := safeyaml.Documents[yaml.Node](data)
	for _, document := range documents {
		node := document.Content[0]
		if node.Tag == "!!null" {
			continue
		}
		if e.root != nil {
			return nil, diag.Findings{e.at(node, "unexpected second object; the file must contain one ClusterServiceVersion")}
		}
		e.root = node
	}
	if err != nil {
		return nil, yamlProblems(name, err)
	}
	if e.root == nil {
		return nil, diag.Findings{{Position: diag.Position{File: name}, Problem: "the file is empty; remove it to generate a new base, or restore it"}}
	}
	if kind := e.find("kind"); e.root.Kind != yaml.MappingNode || kind == nil || kind.Value != v1alpha1.ClusterServiceVersionKind {
		at := e.root
		if kind != nil {
			at = kind
		}
		return nil, diag.Findings{e.at(at, "the file must contain an object of kind "+v1alpha1.ClusterServiceVersionKind)}
	}
	problems := e.duplicates(e.root)
	// The decoder reads the first document, which may be empty.
	text := bytes.Join(bytes.SplitAfter(data, []byte("\n"))[e.root.Line-1:], nil)
	asJSON, err := safeyaml.ToJSON(text)
	if err != nil {
		return nil, append(problems, yamlProblems(name, err)...)
	}
	var raw map[string]any
	if err := utiljson.Unmarshal(asJSON, &raw); err != nil {
		return nil, append(problems, diag.Finding{Position: diag.Position{File: name}, Problem: err.Error()})
	}
	typed := &v1alpha1.ClusterServiceVersion{}
	if err := json.Unmarshal(asJSON, typed); err != nil && !e.decodeTexts(text, raw, typed) {
		problems = append(problems, e.typeProblems(raw, err)...)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if e.csv, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	delete(e.csv, "status")
	manifest.DropTimes(e.csv)
	restore(e.csv, raw)
	return e, nil
}

func (e *existing) at(node *yaml.Node, text string) diag.Finding {
	return diag.Finding{Position: e.place(node), Problem: text}
}

func (e *existing) place(node *yaml.Node) diag.Position {
	return diag.Position{File: e.name, Line: node.Line, Column: node.Column}
}

// find returns the node at a path, nil if there is none.
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
	for k, value := range safeyaml.Fields(node) {
		if strings.EqualFold(k.Value, key) {
			return value
		}
	}
	return nil
}

// duplicates reports duplicate keys of mappings.
func (e *existing) duplicates(node *yaml.Node) diag.Findings {
	var problems diag.Findings
	seen := map[string]int{}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			if line, ok := seen[child.Value]; ok {
				problems = append(problems, e.at(child, fmt.Sprintf("duplicate key %s, first on line %d", child.Value, line)))
			}
			seen[child.Value] = child.Line
		}
		problems = append(problems, e.duplicates(child)...)
	}
	return problems
}
