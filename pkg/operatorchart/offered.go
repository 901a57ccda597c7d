package operatorchart

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// offeredDirs are the directories of a scaffolded project whose objects config/default leaves out by default, relative to it.
func offeredDirs() []string { return []string{"../prometheus", "../network-policy"} }

// WithOffered returns the kustomization of config/default with the directories added that a project has but doesn't install. hasFile reports
// whether a file exists, by its path relative to the directory of the kustomization. It returns nil if there is nothing to add.
func WithOffered(kustomization []byte, hasFile func(name string) bool) []byte {
	var root map[string]any
	if err := safeyaml.Unmarshal(kustomization, &root); err != nil {
		return nil // building it reports the error
	}
	resources, _ := root["resources"].([]any)
	count := len(resources)
	for _, dir := range offeredDirs() {
		if hasFile(dir+"/kustomization.yaml") && !slices.Contains(resources, any(dir)) {
			resources = append(resources, dir)
		}
	}
	if len(resources) == count {
		return nil
	}
	root["resources"] = resources
	text, err := yaml.Marshal(root)
	if err != nil {
		return nil
	}
	return text
}

// Added returns the objects of a build that another one doesn't have.
func Added(objects, all []manifest.Object) []manifest.Object {
	return slices.DeleteFunc(slices.Clone(all), func(o manifest.Object) bool {
		return slices.ContainsFunc(objects, func(other manifest.Object) bool {
			return other.String() == o.String() && other.APIVersion() == o.APIVersion()
		})
	})
}
