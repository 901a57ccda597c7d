package helmchart

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/rbac"
)

// findRoles returns the roles of a chart. The value reports whether the role has the rules of other roles.
func findRoles(sets []RenderedSet) map[rbac.RoleKey]bool {
	aggregated := map[rbac.RoleKey]bool{}
	for _, set := range sets {
		for _, o := range flatten(set.Objects) {
			if kind := o.groupKind(); kind.Group == groupRBAC && (kind.Kind == "Role" || kind.Kind == "ClusterRole") {
				key := rbac.RoleKey{Kind: kind.Kind, Namespace: o.roleNamespace(), Name: o.text("metadata", "name")}
				aggregated[key] = aggregated[key] || rbac.IsAggregated(o.Object)
			}
		}
	}
	return aggregated
}

// roleNamespace returns the namespace of a role or binding.
func (o RenderedObject) roleNamespace() string {
	switch namespace := o.text("metadata", "namespace"); {
	case strings.HasPrefix(o.text("kind"), "Cluster"):
		return ""
	case namespace == "":
		return renderNamespace
	default:
		return namespace
	}
}

// dependsOnRelease reports whether a name contains the name of the release or its namespace.
func dependsOnRelease(name string) bool {
	return strings.Contains(name, renderRelease) || strings.Contains(name, renderNamespace)
}

// author returns the author of the roles and bindings of a template.
func (r *ruler) author(o RenderedObject) rbac.Author {
	return rbac.Author{
		Permissions: r.permissions, Source: "chart", Varies: dependsOnRelease, Variation: "is another one in each release",
		Fix: "grant the manager its permissions for the releases that you need", Display: displayName,
		Note: func(text string) { r.notef(o.template(), "%s", text) },
	}
}

// displayName replaces the names that charts are rendered with by what they stand for.
func displayName(name string) string {
	return strings.NewReplacer(renderRelease, "RELEASE", renderNamespace, "NAMESPACE").Replace(name)
}
