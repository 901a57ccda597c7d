package helmchart

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/rbac"
)

// A roleKey identifies a role of a chart. The namespace of a ClusterRole is empty.
type roleKey struct{ kind, namespace, name string }

// findRoles returns the roles of a chart. The value reports whether the rules of the role are those of other roles.
func findRoles(sets []RenderedSet) map[roleKey]bool {
	aggregated := map[roleKey]bool{}
	for _, set := range sets {
		for _, o := range flatten(set.Objects) {
			if kind := o.groupKind(); kind.Group == groupRBAC && (kind.Kind == "Role" || kind.Kind == "ClusterRole") {
				key := roleKey{kind.Kind, o.roleNamespace(), o.text("metadata", "name")}
				aggregated[key] = aggregated[key] || o.isAggregated()
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
		return RenderNamespace
	default:
		return namespace
	}
}

// isAggregated reports whether the rules of a ClusterRole are those of other roles.
func (o RenderedObject) isAggregated() bool {
	selectors, _ := fieldAt(o.Object, "aggregationRule")["clusterRoleSelectors"].([]any)
	return len(selectors) > 0
}

// dependsOnRelease reports whether a name contains that of the release or its namespace.
func dependsOnRelease(name string) bool {
	return strings.Contains(name, RenderRelease) || strings.Contains(name, RenderNamespace)
}

// role grants the rules of a role: Kubernetes allows only those to create a role who have its permissions.
func (r *ruler) role(o RenderedObject) {
	rules, _ := o.Object["rules"].([]any)
	for _, item := range rules {
		fields, _ := item.(map[string]any)
		rule := rbac.Rule{
			APIGroups: texts(fields["apiGroups"]), NonResourceURLs: texts(fields["nonResourceURLs"]), Resources: texts(fields["resources"]),
			ResourceNames: texts(fields["resourceNames"]), Verbs: texts(fields["verbs"]),
		}
		if slices.ContainsFunc(rule.ResourceNames, dependsOnRelease) {
			rule.ResourceNames = nil // releases have other names
		}
		for _, list := range []*[]string{&rule.APIGroups, &rule.NonResourceURLs, &rule.Resources} {
			if i := slices.IndexFunc(*list, dependsOnRelease); i >= 0 {
				r.notef(o.template(), "%s %s has a rule for %s, which is another one in each release; "+
					"grant the manager its permissions for the releases that you need", o.text("kind"), displayName(o.text("metadata", "name")), displayName((*list)[i]))
				*list = slices.DeleteFunc(*list, dependsOnRelease)
			}
		}
		if all := []string{"*"}; slices.Equal(rule.APIGroups, all) && slices.Equal(rule.Resources, all) && slices.Equal(rule.Verbs, all) {
			r.notef(o.template(), "%s %s has all permissions, and so has the manager's role, as it creates the role",
				o.text("kind"), displayName(o.text("metadata", "name")))
		}
		r.permissions.AddRule(rule)
	}
	if o.isAggregated() {
		// Kubernetes does not compare the name when a role is created, so that the rule cannot be limited to it.
		r.permissions.Grant(groupRBAC, []string{"clusterroles"}, "escalate")
		r.notef(o.template(), "ClusterRole %s has an aggregationRule, which only users with the verb escalate on all ClusterRoles may create; "+
			"the manager's role has it, and thereby may grant any permission", displayName(o.text("metadata", "name")))
	}
}

// binding grants the verb bind on a role that the manager may not have the permissions of.
func (r *ruler) binding(o RenderedObject) {
	ref := roleKey{o.text("roleRef", "kind"), "", o.text("roleRef", "name")}
	resource := "clusterroles"
	if ref.kind == "Role" {
		resource, ref.namespace = "roles", o.roleNamespace()
	}
	aggregated, ok := r.roles[ref]
	if ok && !aggregated {
		return // the manager has the permissions of the role
	}
	t := rbac.Target{Group: groupRBAC, Resource: resource, Name: ref.name}
	switch {
	case !dependsOnRelease(ref.name):
	case ok:
		t.Name = "" // the role has another name in each release
	default:
		r.notef(o.template(), "%s %s refers to the %s %s, which the chart does not create; "+
			"grant the manager the verb bind on it, or the permissions of that role", o.text("kind"), displayName(o.text("metadata", "name")), ref.kind, displayName(ref.name))
		return
	}
	r.permissions.Add(t, "bind")
}

// displayName replaces the names that charts are rendered with by those that they stand for.
func displayName(name string) string {
	return strings.NewReplacer(RenderRelease, "RELEASE", RenderNamespace, "NAMESPACE").Replace(name)
}

// texts converts a decoded list of texts.
func texts(list any) []string {
	var out []string
	items, _ := list.([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
