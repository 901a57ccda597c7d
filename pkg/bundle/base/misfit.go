package base

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// decodeTexts decodes a base with numbers and booleans as texts where the type requires texts, as operator-sdk does. It
// reports whether every such text equals the file: 1 and 1.29 are accepted, 1.30 and yes would change.
func (e *existing) decodeTexts(data []byte, raw map[string]any, into *v1alpha1.ClusterServiceVersion) bool {
	typed := &v1alpha1.ClusterServiceVersion{}
	if err := safeyaml.UnmarshalJSON(data, typed); err != nil {
		return false
	}
	read, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil || !e.isAsWritten(raw, read) {
		return false
	}
	*into = *typed
	return true
}

// isAsWritten reports whether values that became texts equal the texts of the file.
func (e *existing) isAsWritten(raw, read any, path ...any) bool {
	switch raw := raw.(type) {
	case map[string]any:
		read, _ := read.(map[string]any)
		for key, value := range raw {
			if !e.isAsWritten(value, read[key], append(slices.Clone(path), key)...) {
				return false
			}
		}
	case []any:
		read, _ := read.([]any)
		for i, value := range raw[:min(len(raw), len(read))] {
			if !e.isAsWritten(value, read[i], append(slices.Clone(path), i)...) {
				return false
			}
		}
	case string, nil:
	default:
		text, became := read.(string)
		node := e.find(path...)
		return !became || node != nil && node.Value == text
	}
	return true
}

// typeProblems returns every value that does not fit the type of a CSV. The decoder stops at the first error, so it
// decodes the fields one by one.
func (e *existing) typeProblems(raw map[string]any, decodeErr error) diag.Findings {
	var problems diag.Findings
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
				problems = append(problems, e.typeProblem(err, part, key))
			}
		}
	}
	if len(problems) == 0 {
		problems = append(problems, e.typeProblem(decodeErr))
	}
	slices.SortFunc(problems, func(a, b diag.Finding) int { return a.Line - b.Line })
	return problems
}

func (e *existing) typeProblem(err error, path ...any) diag.Finding {
	node := e.find(path...)
	names := make([]string, 0, len(path))
	for _, step := range path {
		names = append(names, fmt.Sprint(step))
	}
	message := err.Error()
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		names = strings.Split(typed.Field, ".")
		message = fmt.Sprintf("must be %s, not %s", formName(typed.Type.Kind().String()), typed.Value)
		if typed.Type.Kind() == reflect.String && (typed.Value == "bool" || strings.HasPrefix(typed.Value, "number")) {
			message += "; quote it"
		}
		for n := len(names); n > 0; n-- {
			if found := findField(e.root, names[:n], typed.Value); found != nil {
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

// findField returns the first node at a path without list indices, preferably one of the form that the decoder reported.
func findField(node *yaml.Node, names []string, form string) *yaml.Node {
	switch {
	case node == nil:
		return nil
	case len(names) == 0 && formOf(node) == form:
		return node
	case node.Kind == yaml.SequenceNode:
		var first *yaml.Node
		for _, item := range node.Content {
			if found := findField(item, names, form); found != nil {
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
	return findField(valueOf(node, names[0]), names[1:], form)
}

// formOf returns the form of a node in the words of the JSON decoder.
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

// formName returns the YAML name of a Go kind.
func formName(kind string) string {
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
		return "a string"
	}
	return "a " + kind
}
