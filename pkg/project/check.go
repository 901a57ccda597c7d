package project

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A shape is the required form of a value.
type shape int

const (
	anything shape = iota
	text
	// name is part of the names of files and directories, importPath of import paths.
	name
	importPath
	truth
	textOrTexts
	texts
	mapping
	mappings
)

// checkShapes validates the form of the keys that Operon reads. Unknown keys are accepted.
func checkShapes(root *yaml.Node) error {
	if err := checkKeys(root, map[string]shape{
		"version": text, "domain": name, "repo": importPath, "projectName": name, "cliVersion": text,
		"layout": textOrTexts, "multigroup": truth, "namespaced": truth, "resources": mappings, "plugins": mapping,
	}); err != nil {
		return err
	}
	if err := checkVersion(root); err != nil {
		return err
	}
	resources := safeyaml.Child(root, "resources")
	if resources == nil {
		return nil
	}
	for _, item := range resources.Content {
		if err := checkResource(item); err != nil {
			return err
		}
	}
	return nil
}

// checkLayout verifies that the file has a layout.
func checkLayout(root *yaml.Node) error {
	layout := safeyaml.Child(root, "layout")
	if layout != nil && len(textsOf(layout)) > 0 {
		return nil
	}
	return findingAt(cmp.Or(layout, root), "add `layout:` with the line `- "+LayoutGoV4+"` below it, or restore the file from version control",
		"the layout is missing")
}

// checkResource validates the form of a resource.
func checkResource(item *yaml.Node) error {
	if err := checkKeys(item, map[string]shape{
		"group": name, "domain": name, "version": name, "kind": name, "plural": name, "path": importPath, "module": importPath,
		"api": mapping, "controller": truth, "controllers": mappings, "webhooks": mapping, "external": truth, "core": truth,
	}); err != nil {
		return err
	}
	for _, key := range []string{"version", "kind"} {
		if textOf(safeyaml.Child(item, key)) == "" {
			return findingAt(item, "add it, or remove the resource", "a resource without %s", key)
		}
	}
	if api := safeyaml.Child(item, "api"); api != nil {
		if err := checkKeys(api, map[string]shape{"crdVersion": text, "namespaced": truth, "ssa": truth}); err != nil {
			return err
		}
	}
	if controllers := safeyaml.Child(item, "controllers"); controllers != nil {
		for _, controller := range controllers.Content {
			if err := checkKeys(controller, map[string]shape{"name": name}); err != nil {
				return err
			}
		}
	}
	if webhooks := safeyaml.Child(item, "webhooks"); webhooks != nil {
		return checkKeys(webhooks, map[string]shape{
			"webhookVersion": text, "defaulting": truth, "validation": truth, "conversion": truth, "spoke": texts,
			"defaultingPath": text, "validationPath": text,
		})
	}
	return nil
}

// checkVersion rejects project versions other than 3.
func checkVersion(root *yaml.Node) error {
	node := safeyaml.Child(root, "version")
	if node == nil || textOf(node) == "" {
		return findingAt(cmp.Or(node, root), `add the line version: "3", or restore the file from version control`, "the project version is missing")
	}
	if problem, hint := projectVersionProblem(textOf(node)); problem != "" {
		switch textOf(node) {
		case "2":
			hint = "run 'operon upgrade', which converts the file and moves the project to the current layout"
		case "3-alpha":
			hint = "run 'operon upgrade', or convert the file alone with 'operon alpha config-3alpha-to-3'"
		}
		return findingAt(node, hint, "%s", problem)
	}
	return nil
}

// checkKeys validates the values of a mapping.
func checkKeys(node *yaml.Node, shapes map[string]shape) error {
	const hint = "correct it, or restore the file from version control"
	if node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
		return nil
	}
	if node.Kind != yaml.MappingNode {
		return findingAt(node, hint, "expected keys with values, found %s", describe(node))
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return findingAt(key, hint, "expected a key, found %s", describe(key))
		}
		if key.Tag == "!!merge" {
			return findingAt(key, "write the keys out", "merge keys are not supported in %s", FileName)
		}
		want := shapes[key.Value]
		if want == anything || value.Kind == yaml.ScalarNode && value.Tag == "!!null" {
			continue
		}
		if value.Kind == yaml.AliasNode {
			return findingAt(value, "write the value out", "the value of key %q is an alias (*%s)", key.Value, value.Value)
		}
		if problem := want.mismatch(value); problem != "" {
			return findingAt(value, hint, "key %q: expected %s, found %s", key.Value, problem, describe(value))
		}
	}
	return nil
}

// mismatch returns the expected form if a value does not have it.
func (s shape) mismatch(value *yaml.Node) string {
	switch s {
	case text, name, importPath:
		given := value.Value
		switch {
		case value.Kind != yaml.ScalarNode:
			return "a string"
		case s == name && (strings.ContainsAny(given, "/\\\n\t") || strings.Trim(given, ".") == "" && given != ""):
			return "a name in one line, without path separators"
		case s == importPath && (strings.ContainsAny(given, "\\\n\t") || slices.Contains(strings.Split(given, "/"), "..")):
			return "the import path of a Go package"
		}
	case truth:
		var b bool
		if value.Kind != yaml.ScalarNode || value.Decode(&b) != nil {
			return "true or false"
		}
	case textOrTexts, texts:
		if s == textOrTexts && value.Kind == yaml.ScalarNode {
			return ""
		}
		if value.Kind != yaml.SequenceNode || !haveKind(value.Content, yaml.ScalarNode) {
			return "a list of strings"
		}
	case mapping:
		if value.Kind != yaml.MappingNode {
			return "keys with values"
		}
	case mappings:
		if value.Kind != yaml.SequenceNode || !haveKind(value.Content, yaml.MappingNode) {
			return "a list of keys with values"
		}
	}
	return ""
}

// haveKind reports whether all nodes are of a kind.
func haveKind(nodes []*yaml.Node, kind yaml.Kind) bool {
	return !slices.ContainsFunc(nodes, func(n *yaml.Node) bool { return n.Kind != kind })
}

// textOf returns the text of a scalar, or "" if the node is null, nil or not a scalar.
func textOf(node *yaml.Node) string {
	if node == nil || node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		return ""
	}
	return strings.TrimSpace(node.Value)
}

// textsOf returns the texts of a list. A scalar is a list of one text.
func textsOf(node *yaml.Node) []string {
	if node == nil {
		return nil
	}
	if node.Kind == yaml.ScalarNode {
		if s := textOf(node); s != "" {
			return []string{s}
		}
		return nil
	}
	var list []string
	for _, item := range node.Content {
		if s := textOf(item); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// boolOf reports whether a node is true.
func boolOf(node *yaml.Node) bool {
	var b bool
	return node != nil && node.Kind == yaml.ScalarNode && node.Decode(&b) == nil && b
}
