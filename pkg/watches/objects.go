package watches

import (
	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// objects returns the mappings of a list, each of which describes an object with some keys. The text before the keys is for a node that is
// no list.
func (p *parser) objects(node *yaml.Node, text, keys string) (mappings []*yaml.Node) {
	if node.Kind != yaml.SequenceNode {
		p.addf(node, "%s%s", text, keys)
		return nil
	}
	for _, element := range node.Content {
		if mapping := safeyaml.Resolve(element); mapping.Kind == yaml.MappingNode {
			mappings = append(mappings, mapping)
		} else {
			p.addf(element, "must have the keys %s", keys)
		}
	}
	return mappings
}

// requireName adds a finding about an object unless one of the keys name and nameFrom is given, and reports whether one is.
func (p *parser) requireName(mapping *yaml.Node, name, nameFrom string) bool {
	switch {
	case name != "" && nameFrom != "":
		p.addf(mapping, "name and nameFrom exclude each other; remove one of them")
	case name == "" && nameFrom == "":
		p.addf(mapping, "name or nameFrom is required")
	default:
		return true
	}
	return false
}

// textValues returns the keys that have a text.
func textValues(texts map[string]string) map[string]any {
	values := map[string]any{}
	for key, text := range texts {
		if text != "" {
			values[key] = text
		}
	}
	return values
}
