package project

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// AlphaFacts are facts about a resource that a PROJECT file of version 3-alpha does not contain and the code does.
type AlphaFacts struct {
	Controller, Namespaced             bool
	Defaulting, Validation, Conversion bool
}

// ConvertAlpha converts a PROJECT file from version 3-alpha to 3. facts returns facts about a resource, given the directory of
// its types and its kind. A file of version 3 is returned unchanged.
func ConvertAlpha(text []byte, facts func(dir, kind string) (AlphaFacts, error)) ([]byte, error) {
	return convert(text, "", facts, "3-alpha")
}

// Convert converts a PROJECT file from version 2 or 3-alpha to 3. name is the name of the project, which version 2 does not
// contain. facts returns facts about a resource, given the directory of its types and its kind. A file of version 3 is returned
// unchanged.
func Convert(text []byte, name string, facts func(dir, kind string) (AlphaFacts, error)) ([]byte, error) {
	return convert(text, name, facts, "2", "3-alpha")
}

// convert converts a file of one of several versions.
func convert(text []byte, name string, facts func(dir, kind string) (AlphaFacts, error), versions ...string) ([]byte, error) {
	root, err := readDocument(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	if err != nil {
		return nil, err
	}
	version := safeyaml.Child(root, "version")
	switch current := textOf(version); {
	case current == ProjectVersion:
		return text, nil
	case !slices.Contains(versions, current):
		if err := checkVersion(root); err != nil {
			return nil, err
		}
	}
	version.SetString(ProjectVersion)
	version.Style = yaml.DoubleQuotedStyle
	convertLayout(root, name)
	multi := boolOf(safeyaml.Child(root, "multigroup"))
	if items := safeyaml.Child(root, "resources"); items != nil && items.Kind == yaml.SequenceNode {
		for _, item := range items.Content {
			if item.Kind != yaml.MappingNode {
				return nil, findingAt(item, "correct it, or restore the file from version control", "expected a resource, found %s", describe(item))
			}
			if err := convertResource(item, textOf(safeyaml.Child(root, "domain")), textOf(safeyaml.Child(root, "repo")), multi, facts); err != nil {
				return nil, err
			}
		}
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	if err := encoder.Close(); err != nil {
		return nil, err
	}
	_, err = Parse(out.Bytes())
	return out.Bytes(), err
}

// convertLayout converts the layout to a list, and adds the layout and the name of the project if they are missing, as in
// version 2.
func convertLayout(root *yaml.Node, name string) {
	layout := safeyaml.Child(root, "layout")
	switch {
	case layout == nil:
		insertKey(root, "layout", &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{textNode(LayoutGoV2)}})
	case layout.Kind == yaml.ScalarNode:
		*layout = yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{textNode(layout.Value)}}
	}
	if textOf(safeyaml.Child(root, "projectName")) == "" && name != "" {
		take(root, "projectName")
		insertKey(root, "projectName", textNode(name))
	}
}

// insertKey adds a key in alphabetical order.
func insertKey(m *yaml.Node, key string, value *yaml.Node) {
	i := 0
	for i < len(m.Content) && m.Content[i].Value < key {
		i += 2
	}
	m.Content = slices.Insert(m.Content, i, textNode(key), value)
}

// convertResource completes one resource.
func convertResource(item *yaml.Node, domain, repo string, multi bool, facts func(dir, kind string) (AlphaFacts, error)) error {
	version, kind := textOf(safeyaml.Child(item, "version")), textOf(safeyaml.Child(item, "kind"))
	dir := path.Join("api", version)
	if multi {
		dir = path.Join("apis", textOf(safeyaml.Child(item, "group")), version)
	}
	resource, err := facts(dir, kind)
	if err != nil {
		return err
	}
	crd, webhook := take(item, "crdVersion"), take(item, "webhookVersion")
	if crd == "" {
		crd = "v1beta1" // the default of these versions
		if repo == "" {
			crd = "v1"
		}
	}
	api := pairsOf("crdVersion", textNode(crd))
	if resource.Namespaced {
		api.Content = append(api.Content, pairsOf("namespaced", trueNode()).Content...)
	}
	item.Content = append(item.Content, pairsOf("api", api, "domain", textNode(domain)).Content...)
	if repo != "" { // Helm projects have no module
		item.Content = append(item.Content, pairsOf("path", textNode(path.Join(repo, dir))).Content...)
	}
	if resource.Controller {
		item.Content = append(item.Content, pairsOf("controller", trueNode()).Content...)
	}
	if resource.Defaulting || resource.Validation || resource.Conversion || webhook != "" {
		if webhook == "" {
			webhook = "v1beta1"
		}
		hooks := pairsOf("webhookVersion", textNode(webhook))
		for key, on := range map[string]bool{"conversion": resource.Conversion, "defaulting": resource.Defaulting, "validation": resource.Validation} {
			if on {
				hooks.Content = append(hooks.Content, pairsOf(key, trueNode()).Content...)
			}
		}
		sortKeys(hooks)
		item.Content = append(item.Content, pairsOf("webhooks", hooks).Content...)
	}
	sortKeys(item)
	return nil
}

// textNode returns a scalar.
func textNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// trueNode returns the scalar true.
func trueNode() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"} }

// pairsOf returns a mapping of alternating keys and nodes.
func pairsOf(pairs ...any) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	for _, p := range pairs {
		if key, ok := p.(string); ok {
			m.Content = append(m.Content, textNode(key))
		} else if node, ok := p.(*yaml.Node); ok {
			m.Content = append(m.Content, node)
		}
	}
	return m
}

// take removes a key from a mapping and returns the text of its value.
func take(m *yaml.Node, key string) string {
	i := safeyaml.ChildIndex(m, key)
	if i < 0 {
		return ""
	}
	value := textOf(m.Content[i+1])
	m.Content = append(m.Content[:i:i], m.Content[i+2:]...)
	return value
}

// sortKeys sorts the keys of a mapping, as all tools write them.
func sortKeys(m *yaml.Node) {
	pairs := slices.Collect(slices.Chunk(m.Content, 2))
	slices.SortStableFunc(pairs, func(a, b []*yaml.Node) int { return strings.Compare(a[0].Value, b[0].Value) })
	m.Content = slices.Concat(pairs...)
}
