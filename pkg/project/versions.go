package project

import (
	"slices"

	apiversion "k8s.io/apimachinery/pkg/version"
)

// NoVersion stands for no version of a kind where a version can be chosen.
const NoVersion = "none"

// OtherVersions returns the versions of a kind with types in the project, except for the kind's own, newest first.
func (c *Config) OtherVersions(gvk GVK) []Resource {
	var others []Resource
	for _, r := range c.Resources() {
		if r.Kind == gvk.Kind && r.QualifiedGroup() == gvk.QualifiedGroup() && r.Version != gvk.Version && r.HasAPI() && c.HasTypes(r) {
			others = append(others, r)
		}
	}
	slices.SortStableFunc(others, func(a, b Resource) int { return apiversion.CompareKubeAwareVersionStrings(b.Version, a.Version) })
	return others
}
