package rbac

import (
	"fmt"
	"slices"
)

// groupRBAC is the API group of roles.
const groupRBAC = "rbac.authorization.k8s.io"

// A RoleKey identifies a role. The namespace of a ClusterRole is empty.
type RoleKey struct{ Kind, Namespace, Name string }

// An Author grants what Kubernetes requires of those who create roles and bindings: the permissions of the role, or a verb
// that permits the escalation.
type Author struct {
	Permissions Permissions
	// Source is what creates the roles: chart.
	Source string
	// Varies reports whether a text, such as a name, has other values at run time. Variation continues the sentence "…, which".
	Varies    func(text string) bool
	Variation string
	// Fix is how to correct a rule that varies.
	Fix string
	// Display returns a text that varies in readable form.
	Display func(text string) string
	// Note receives a note.
	Note func(text string)
}

// Role grants the rules of a Role or ClusterRole.
func (a Author) Role(object map[string]any) {
	label := a.label(object)
	rules, _ := object["rules"].([]any)
	for _, item := range rules {
		fields, _ := item.(map[string]any)
		rule := Rule{
			APIGroups: texts(fields["apiGroups"]), NonResourceURLs: texts(fields["nonResourceURLs"]), Resources: texts(fields["resources"]),
			ResourceNames: texts(fields["resourceNames"]), Verbs: texts(fields["verbs"]),
		}
		if slices.ContainsFunc(rule.ResourceNames, a.Varies) {
			rule.ResourceNames = nil
		}
		for _, list := range []*[]string{&rule.APIGroups, &rule.NonResourceURLs, &rule.Resources, &rule.Verbs} {
			if i := slices.IndexFunc(*list, a.Varies); i >= 0 {
				a.Note(fmt.Sprintf("%s has a rule for %s, which %s; %s", label, a.Display((*list)[i]), a.Variation, a.Fix))
				*list = slices.DeleteFunc(*list, a.Varies)
			}
		}
		if all := []string{all}; slices.Equal(rule.APIGroups, all) && slices.Equal(rule.Resources, all) && slices.Equal(rule.Verbs, all) {
			a.Note(label + " has all permissions, and so has the manager's role, as it creates the role")
		}
		a.Permissions.AddRule(rule)
	}
	if IsAggregated(object) {
		// Kubernetes does not compare the name when a role is created, so that the rule cannot be limited to it.
		a.Permissions.Grant(groupRBAC, []string{"clusterroles"}, "escalate")
		a.Note(label + " has an aggregationRule, which only users with the verb escalate on all ClusterRoles may create; " +
			"the manager's role has it, and thereby may grant any permission")
	}
}

// Binding grants the verb bind on the role of a binding if the manager may not have its permissions. The namespace is the
// binding's. The created roles are the ones whose permissions Role granted, or true for a role that gets its rules from others.
func (a Author) Binding(object map[string]any, namespace string, created map[RoleKey]bool) {
	ref, _ := object["roleRef"].(map[string]any)
	key := RoleKey{Kind: text(ref, "kind"), Name: text(ref, "name")}
	resource := "clusterroles"
	if key.Kind == "Role" {
		resource, key.Namespace = "roles", namespace
	}
	aggregated, ok := created[key]
	if ok && !aggregated {
		return
	}
	t := Target{Group: groupRBAC, Resource: resource, Name: key.Name}
	switch {
	case !a.Varies(key.Name):
	case ok:
		t.Name = ""
	default:
		a.Note(fmt.Sprintf("%s refers to the %s %s, which the %s does not create; grant the manager the verb bind on it, or the permissions of that role",
			a.label(object), key.Kind, a.Display(key.Name), a.Source))
		return
	}
	a.Permissions.Add(t, "bind")
}

// IsAggregated reports whether a ClusterRole gets its rules from other roles.
func IsAggregated(object map[string]any) bool {
	aggregation, _ := object["aggregationRule"].(map[string]any)
	selectors, _ := aggregation["clusterRoleSelectors"].([]any)
	return len(selectors) > 0
}

// label returns kind and name of an object.
func (a Author) label(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	return text(object, "kind") + " " + a.Display(text(metadata, "name"))
}

func text(fields map[string]any, key string) string {
	s, _ := fields[key].(string)
	return s
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
