package base

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// texts reads a base once more, with numbers and truths as texts where the type wants texts, as operator-sdk does.
// It tells whether that gives every text as it is written: 1 and 1.29 are taken, 1.30 and yes would become others.
func (e *existing) texts(data []byte, raw map[string]any, into *v1alpha1.ClusterServiceVersion) bool {
	typed := &v1alpha1.ClusterServiceVersion{}
	if err := safeyaml.UnmarshalJSON(data, typed); err != nil {
		return false
	}
	read, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil || !e.asWritten(raw, read) {
		return false
	}
	*into = *typed
	return true
}

// asWritten tells whether values that became texts are the texts of the file.
func (e *existing) asWritten(raw, read any, path ...any) bool {
	switch raw := raw.(type) {
	case map[string]any:
		read, _ := read.(map[string]any)
		for key, value := range raw {
			if !e.asWritten(value, read[key], append(slices.Clone(path), key)...) {
				return false
			}
		}
	case []any:
		read, _ := read.([]any)
		for i, value := range raw[:min(len(raw), len(read))] {
			if !e.asWritten(value, read[i], append(slices.Clone(path), i)...) {
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

// misfits finds everything that is not of the form of a CSV. The decoder stops at the first error, so it
// is given the parts one by one.
func (e *existing) misfits(raw map[string]any, whole error) manifest.Problems {
	var problems manifest.Problems
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
				problems = append(problems, e.misfit(err, part, key))
			}
		}
	}
	if len(problems) == 0 {
		problems = append(problems, e.misfit(whole))
	}
	slices.SortFunc(problems, func(a, b manifest.Problem) int { return a.Line - b.Line })
	return problems
}

func (e *existing) misfit(err error, path ...any) manifest.Problem {
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
