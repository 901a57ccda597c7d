package refactor

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// roles renames references to Ansible roles in a mapping: the entry of a kind, a play, a task that runs a role, or the metadata of a
// role.
func (y *yamlRenamer) roles(n *yaml.Node) {
	if len(y.Roles) == 0 {
		return
	}
	rename := func(value *yaml.Node) {
		if to := y.Roles[value.Value]; value.Kind == yaml.ScalarNode && to != "" {
			y.new[value] = to
		}
	}
	for key, value := range safeyaml.Fields(n) {
		switch strings.TrimPrefix(key.Value, "ansible.builtin.") {
		case "role":
			rename(value)
		case "roles", "dependencies":
			if value.Kind != yaml.SequenceNode {
				continue
			}
			for _, item := range value.Content {
				rename(item)
				if name := safeyaml.Child(item, "name"); name != nil && safeyaml.Child(item, "role") == nil {
					rename(name)
				}
			}
		case "import_role", "include_role":
			if name := safeyaml.Child(value, "name"); name != nil {
				rename(name)
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
