package refactor

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// freeFormName matches the role in the free-form arguments of a task, as in "include_role: name=site".
var freeFormName = lazyregexp.New(`(?:^|\s)name=["']?([^\s"']+)`)

// RoleReferences returns the references to Ansible roles in a mapping, without those in its values: in the entry of a kind, a play, a
// task that runs a role, or the metadata of a role. The value of the node is the name of the role, or free-form arguments with it.
func RoleReferences(n *yaml.Node) iter.Seq2[*yaml.Node, string] {
	return func(yield func(*yaml.Node, string) bool) {
		for _, node := range roleNodes(n) {
			name := node.Value
			if match := freeFormName.FindStringSubmatch(name); match != nil {
				name = match[1]
			}
			if !yield(node, name) {
				return
			}
		}
	}
}

// roleNodes returns the nodes of the references to roles in a mapping.
func roleNodes(n *yaml.Node) (nodes []*yaml.Node) {
	add := func(node *yaml.Node) {
		if node != nil && node.Kind == yaml.ScalarNode {
			nodes = append(nodes, node)
		}
	}
	for key, value := range safeyaml.Fields(n) {
		switch strings.TrimPrefix(strings.TrimPrefix(key.Value, "ansible.builtin."), "ansible.legacy.") {
		case "role":
			add(value)
		case "roles", "dependencies":
			if value.Kind != yaml.SequenceNode {
				continue
			}
			for _, item := range value.Content {
				add(item)
				if safeyaml.Child(item, "role") == nil {
					add(safeyaml.Child(item, "name"))
				}
			}
		case "import_role", "include_role":
			add(cmp.Or(safeyaml.Child(value, "name"), value))
		}
	}
	return nodes
}

// roles renames references to Ansible roles in a mapping.
func (y *yamlRenamer) roles(n *yaml.Node) {
	for node, name := range RoleReferences(n) {
		if to := y.Roles[name]; to != "" {
			y.new[node] = to
			if at := freeFormName.FindStringSubmatchIndex(node.Value); at != nil {
				y.new[node] = node.Value[:at[2]] + to + node.Value[at[3]:]
			}
		}
	}
}

// renameVariables replaces the names of Ansible variables in a text.
func (x *renamer) renameVariables(text []byte) []byte {
	if len(x.Variables) == 0 || !utf8.Valid(text) {
		return text
	}
	renamed := string(text)
	for _, name := range slices.Sorted(maps.Keys(x.Variables)) {
		if strings.Contains(renamed, name) {
			renamed = replaceWord(renamed, name, x.Variables[name])
		}
	}
	return []byte(renamed)
}
