package migrate

import (
	"maps"
	"slices"
	"strings"
)

// A rule is a rule of a role.
type rule struct{ groups, resources, names, urls, verbs []string }

func rulesOf(list any) []rule {
	items, _ := list.([]any)
	var rules []rule
	for _, item := range items {
		fields, _ := item.(map[string]any)
		rules = append(rules, rule{
			texts(fields["apiGroups"]), texts(fields["resources"]), texts(fields["resourceNames"]), texts(fields["nonResourceURLs"]), texts(fields["verbs"]),
		})
	}
	return rules
}

func texts(list any) []string {
	items, _ := list.([]any)
	var all []string
	for _, item := range items {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// lostPermissions returns the paths of permissions that the rules of a role at a path no longer grant: verbs by
// resource. The arrangement of rules does not matter.
func lostPermissions(at []step, before, after any) [][]step {
	current := rulesOf(after)
	first := map[string]int{} // resource or URL → index of the rule
	lost := map[string][]string{}
	check := func(number int, what string, single rule) {
		for _, verb := range single.verbs {
			single.verbs = []string{verb}
			if slices.ContainsFunc(current, func(r rule) bool { return r.allows(single) }) || slices.Contains(lost[what], verb) {
				continue
			}
			if lost[what] == nil {
				first[what] = number
			}
			lost[what] = append(lost[what], verb)
		}
	}
	for i, r := range rulesOf(before) {
		for _, url := range r.urls {
			check(i, url, rule{urls: []string{url}, verbs: r.verbs})
		}
		for _, group := range r.groups {
			for _, resource := range r.resources {
				check(i, strings.TrimSuffix(resource+"."+group, "."), rule{
					groups: []string{group}, resources: []string{resource}, names: r.names, verbs: r.verbs,
				})
			}
		}
	}
	items, _ := before.([]any)
	var all [][]step
	for _, what := range slices.Sorted(maps.Keys(lost)) {
		text := what + ": " + strings.Join(lost[what], " ")
		all = append(all, append(slices.Clip(at), step{name: itemName(items[first[what]]), item: true, text: text}))
	}
	return all
}

// allows reports whether a rule grants everything that another one does.
func (r rule) allows(other rule) bool {
	covers := func(granted, want []string) bool {
		return slices.Contains(granted, "*") || !slices.ContainsFunc(want, func(text string) bool { return !slices.Contains(granted, text) })
	}
	named := len(r.names) == 0 || len(other.names) > 0 && covers(r.names, other.names)
	return named && covers(r.groups, other.groups) && covers(r.resources, other.resources) && covers(r.urls, other.urls) && covers(r.verbs, other.verbs)
}
