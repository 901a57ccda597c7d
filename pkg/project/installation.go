package project

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// An Installation is what the kustomization of a project's operator gives all objects.
type Installation struct {
	// Prefix is the prefix of names, with its hyphen, and Namespace the namespace. Both can be empty.
	Prefix, Namespace string
}

// FollowInstallation makes what is scaffolded refer to objects by the names that a project's kustomization gives them.
func (c *Config) FollowInstallation(i Installation) { c.installation = &i }

// Installation returns what FollowInstallation has set, or nil.
func (c *Config) Installation() *Installation { return c.installation }

// ReadInstallation returns what a kustomization gives all objects, and false if it can't be read, which kustomize reports.
func ReadInstallation(kustomization []byte) (Installation, bool) {
	root := kustomizationRoot(kustomization)
	return Installation{Prefix: safeyaml.ChildText(root, "namePrefix"), Namespace: safeyaml.ChildText(root, "namespace")}, root.Kind == yaml.MappingNode
}

// KustomizedItems returns the files and directories that a kustomization includes, as it names them.
func KustomizedItems(kustomization []byte) []string {
	var items []string
	for key, list := range safeyaml.Fields(kustomizationRoot(kustomization)) {
		if slices.Contains([]string{"resources", "bases", "components"}, key.Value) && list.Kind == yaml.SequenceNode {
			for _, item := range list.Content {
				items = append(items, item.Value)
			}
		}
	}
	return items
}

func kustomizationRoot(text []byte) *yaml.Node {
	var document yaml.Node
	if safeyaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return &yaml.Node{}
	}
	return document.Content[0]
}
