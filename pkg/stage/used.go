package stage

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Rules returns the rules in the order of the bindings.
func (g *Grants) Rules() []*Rule { return slices.Clone(g.rules) }

// Wildcards returns the fields of the rule that stand for everything: apiGroups, resources, verbs or nonResourceURLs.
func (r *Rule) Wildcards() (fields []string) {
	for _, list := range []struct {
		field string
		items []string
	}{{"apiGroups", r.APIGroups}, {"resources", r.Resources}, {"verbs", r.Verbs}, {"nonResourceURLs", r.NonResourceURLs}} {
		if slices.ContainsFunc(list.items, func(item string) bool { return item == all || strings.HasPrefix(item, all+"/") }) {
			fields = append(fields, list.field)
		}
	}
	return fields
}

// Used returns what the operator has used of the rule, in the order of groups and resources. Who reads a resource may read it with each
// of the verbs for that.
func (r *Rule) Used() (permissions []Permission) {
	for _, a := range slices.SortedFunc(maps.Keys(r.used), compareAccess) {
		p := Permission{Group: a.group, Resource: a.resource, Path: a.path}
		if n := len(permissions) - 1; n >= 0 && permissions[n].target() == p.target() {
			p, permissions = permissions[n], permissions[:n]
		}
		verbs := []string{a.verb}
		if a.path == "" && slices.Contains(readVerbs(), a.verb) {
			verbs = readVerbs()
		}
		p.Verbs = slices.Concat(p.Verbs, slices.DeleteFunc(verbs, func(verb string) bool { return slices.Contains(p.Verbs, verb) }))
		permissions = append(permissions, p)
	}
	return permissions
}

func compareAccess(a, b access) int {
	return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.group, b.group), strings.Compare(a.resource, b.resource), strings.Compare(a.verb, b.verb))
}

// Unused returns what the operator hasn't used of the rule, in its order, as far as a request can show it. Wildcards are left out: nobody
// uses all of them.
func (r *Rule) Unused() (permissions []Permission) {
	used := r.Used()
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			p := Permission{Group: group, Resource: resource}
			if group == all || strings.Contains(resource, all) {
				continue
			}
			var known []string
			if i := slices.IndexFunc(used, func(u Permission) bool { return u.target() == p.target() }); i >= 0 {
				known = used[i].Verbs
			}
			for _, verb := range r.Verbs {
				if isRequested(verb) && !slices.Contains(known, verb) {
					p.Verbs = append(p.Verbs, verb)
				}
			}
			if len(p.Verbs) > 0 {
				permissions = append(permissions, p)
			}
		}
	}
	return permissions
}

// isRequested reports whether requests have a verb. The others, such as escalate and bind, only permit what else is forbidden.
func isRequested(verb string) bool {
	return slices.Contains(readVerbs(), verb) || slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, verb)
}
