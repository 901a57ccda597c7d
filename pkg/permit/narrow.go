package permit

import (
	"slices"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/stage"
)

// groupRBAC is the API group of roles.
const groupRBAC = "rbac.authorization.k8s.io"

// narrowed returns what stays of a rule, and false if all of it does: what was used of a wildcard, and with an audit log of any rule.
func narrowed(g *stage.Grants, rule rbac.Rule) ([]rbac.Rule, bool) {
	of := g.Of(stage.Rule{
		APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames, NonResourceURLs: rule.NonResourceURLs, Verbs: rule.Verbs,
	})
	if len(of.Wildcards()) > 0 {
		used := of.Used()
		if len(used) == 0 && !g.Audited() || grantsRoles(used) {
			return nil, false
		}
		return together(used, rule.ResourceNames), true
	}
	if !g.Audited() {
		return nil, false
	}
	spare := behavior.SparePermissions(of)
	return without(rule, spare), len(spare) > 0
}

// grantsRoles reports whether an operator writes roles or bindings. Of a wildcard, it may then need the verbs escalate and bind, which no
// request shows.
func grantsRoles(used []stage.Permission) bool {
	return slices.ContainsFunc(used, func(p stage.Permission) bool {
		return p.Group == groupRBAC && slices.ContainsFunc(p.Verbs, func(verb string) bool { return slices.Contains([]string{"create", "update", "patch"}, verb) })
	})
}

// without returns what is left of a rule without some permissions: one rule, if it is the same for all resources.
func without(rule rbac.Rule, spare []stage.Permission) []rbac.Rule {
	var left []stage.Permission
	var verbs []string
	same := true
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			p := stage.Permission{Group: group, Resource: resource, Verbs: slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool {
				return slices.ContainsFunc(spare, func(s stage.Permission) bool {
					return s.Group == group && s.Resource == resource && slices.Contains(s.Verbs, verb)
				})
			})}
			same = same && (verbs == nil || slices.Equal(verbs, p.Verbs))
			verbs = p.Verbs
			if len(verbs) > 0 {
				left = append(left, p)
			}
		}
	}
	switch {
	case len(left) == 0:
		return nil
	case same:
		rule.Verbs = verbs
		return []rbac.Rule{rule}
	}
	return together(left, rule.ResourceNames)
}

// together returns rules for permissions: one for the resources of a group with the same verbs.
func together(permissions []stage.Permission, names []string) (rules []rbac.Rule) {
	for _, p := range permissions {
		rule := ruleOf(p)
		rule.ResourceNames = names
		i := slices.IndexFunc(rules, func(r rbac.Rule) bool {
			return slices.Equal(r.APIGroups, rule.APIGroups) && slices.Equal(r.Verbs, rule.Verbs)
		})
		if i < 0 {
			rules = append(rules, rule)
			continue
		}
		rules[i].Resources, rules[i].NonResourceURLs = append(rules[i].Resources, rule.Resources...), append(rules[i].NonResourceURLs, rule.NonResourceURLs...)
	}
	return rules
}
