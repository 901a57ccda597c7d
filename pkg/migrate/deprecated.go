package migrate

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// replaceDeprecated returns a kustomization with the current names of deprecated fields, of which kustomize warns. vars
// stay: replacements cannot express all of them. It reports false if there are none, or the text cannot be decoded.
func replaceDeprecated(text []byte) ([]byte, bool) {
	var doc yaml.Node
	if safeyaml.Unmarshal(text, &doc) != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, false
	}
	root, found := doc.Content[0], false
	for _, move := range []struct {
		from, to string
		item     func(*yaml.Node) *yaml.Node
	}{
		{"bases", "resources", func(n *yaml.Node) *yaml.Node { return n }},
		{"patchesStrategicMerge", "patches", strategicPatch},
		{"patchesJson6902", "patches", func(n *yaml.Node) *yaml.Node { return n }},
	} {
		at := safeyaml.ChildIndex(root, move.from)
		if at < 0 {
			continue
		}
		found = true
		items := root.Content[at+1].Content
		root.Content = append(root.Content[:at:at], root.Content[at+2:]...)
		list := safeyaml.ChildIndex(root, move.to)
		if list < 0 || root.Content[list+1].Kind != yaml.SequenceNode {
			if list >= 0 {
				root.Content = append(root.Content[:list:list], root.Content[list+2:]...)
			}
			list = len(root.Content)
			root.Content = append(root.Content, scalar(move.to), &yaml.Node{Kind: yaml.SequenceNode})
		}
		for _, item := range items {
			root.Content[list+1].Content = append(root.Content[list+1].Content, move.item(item))
		}
	}
	if at := safeyaml.ChildIndex(root, "commonLabels"); at >= 0 && safeyaml.ChildIndex(root, "labels") < 0 {
		found = true
		root.Content[at].Value = "labels"
		selected := mapping(scalar("pairs"), root.Content[at+1], scalar("includeSelectors"), scalar("true"))
		root.Content[at+1] = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{selected}}
	}
	if !found {
		return nil, false
	}
	out, err := yaml.Marshal(&doc)
	return out, err == nil
}

// strategicPatch returns the entry of patches for one of patchesStrategicMerge: a file, or the text of a patch.
func strategicPatch(n *yaml.Node) *yaml.Node {
	if strings.Contains(n.Value, "\n") {
		return mapping(scalar("patch"), n)
	}
	return mapping(scalar("path"), n)
}

// mapping returns a mapping of keys, each with the value that follows it.
func mapping(keysAndValues ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: keysAndValues}
}

func scalar(value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: value} }
