package helmchart

import (
	"maps"
	"slices"
	"strings"
)

// A Rule is a rule of a role, as in rbac.authorization.k8s.io/v1.
type Rule struct {
	APIGroups       []string `json:"apiGroups,omitempty" yaml:"apiGroups,omitempty"`
	NonResourceURLs []string `json:"nonResourceURLs,omitempty" yaml:"nonResourceURLs,omitempty"`
	ResourceNames   []string `json:"resourceNames,omitempty" yaml:"resourceNames,omitempty"`
	Resources       []string `json:"resources,omitempty" yaml:"resources,omitempty"`
	Verbs           []string `json:"verbs" yaml:"verbs"`
}

const all = "*"

// A target is what verbs apply to: a resource of a group, one object of it, or a URL that is not of a resource.
type target struct{ group, resource, name, url string }

// permissions maps targets to verbs.
type permissions map[target]map[string]bool

// add adds verbs.
func (p permissions) add(t target, verbs ...string) {
	if p[t] == nil {
		p[t] = map[string]bool{}
	}
	for _, verb := range verbs {
		p[t][verb] = true
	}
}

// grant adds verbs on resources of a group, with all names.
func (p permissions) grant(group string, resources []string, verbs ...string) {
	for _, resource := range resources {
		p.add(target{group: group, resource: resource}, verbs...)
	}
}

// addRule adds the permissions of a rule.
func (p permissions) addRule(r Rule) {
	for _, url := range r.NonResourceURLs {
		p.add(target{url: url}, r.Verbs...)
	}
	names := r.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			for _, name := range names {
				p.add(target{group: group, resource: resource, name: name}, r.Verbs...)
			}
		}
	}
}

// covers reports whether permissions on t include those on other, as the authorizer of Kubernetes decides.
func (t target) covers(other target) bool {
	if t.url != "" || other.url != "" {
		prefix, open := strings.CutSuffix(t.url, all)
		return t.url == other.url || t.url != "" && other.url != "" && open && strings.HasPrefix(other.url, prefix)
	}
	return (t.group == all || t.group == other.group) && t.coversResource(other.resource) && (t.name == "" || t.name == other.name)
}

func (t target) coversResource(resource string) bool {
	_, subresource, ok := strings.Cut(resource, "/")
	return t.resource == all || t.resource == resource || ok && t.resource == all+"/"+subresource
}

// allow reports whether the permissions include a verb on a target.
func (p permissions) allow(t target, verb string) bool {
	for other, verbs := range p {
		if (verbs[verb] || verbs[all]) && other.covers(t) {
			return true
		}
	}
	return false
}

// without returns the permissions on targets that others do not include completely.
func (p permissions) without(others permissions) permissions {
	rest := permissions{}
	for t, verbs := range p {
		for verb := range verbs {
			if !others.allow(t, verb) {
				rest[t] = verbs
				break
			}
		}
	}
	return rest
}

// reduced returns equivalent permissions without those that other targets include.
func (p permissions) reduced() permissions {
	reduced := permissions{}
	for t, verbs := range p {
		if verbs[all] {
			verbs = map[string]bool{all: true}
		}
		reduced[t] = verbs
	}
	for _, t := range slices.SortedFunc(maps.Keys(reduced), compareTargets) {
		verbs := reduced[t]
		delete(reduced, t)
		for verb := range verbs {
			if !reduced.allow(t, verb) {
				reduced[t] = verbs
				break
			}
		}
	}
	return reduced
}

// rules returns the permissions as rules: one for each group and set of verbs, sorted. URLs are last.
func (p permissions) rules() []Rule {
	reduced := p.reduced()
	// The names of one resource with the same verbs are in one rule, and so are resources with the same names and verbs.
	type named struct{ group, resource, verbs string }
	names := map[named][]string{}
	type key struct{ url, group, names, verbs string }
	members := map[key][]string{}
	for _, t := range slices.SortedFunc(maps.Keys(reduced), compareTargets) {
		verbs := strings.Join(slices.Sorted(maps.Keys(reduced[t])), " ")
		switch {
		case t.url != "":
			members[key{url: all, verbs: verbs}] = append(members[key{url: all, verbs: verbs}], t.url)
		case t.name != "":
			names[named{t.group, t.resource, verbs}] = append(names[named{t.group, t.resource, verbs}], t.name)
		default:
			members[key{group: t.group, verbs: verbs}] = append(members[key{group: t.group, verbs: verbs}], t.resource)
		}
	}
	for n, list := range names {
		k := key{group: n.group, names: strings.Join(list, "\x00"), verbs: n.verbs}
		members[k] = append(members[k], n.resource)
	}
	var rules []Rule
	for k, list := range members {
		slices.Sort(list)
		r := Rule{Verbs: strings.Fields(k.verbs)}
		if k.url != "" {
			r.NonResourceURLs = list
		} else {
			r.APIGroups, r.Resources = []string{k.group}, list
		}
		if k.names != "" {
			r.ResourceNames = strings.Split(k.names, "\x00")
		}
		rules = append(rules, r)
	}
	slices.SortFunc(rules, compareRules)
	return rules
}

func compareTargets(a, b target) int {
	return slices.Compare([]string{a.url, a.group, a.resource, a.name}, []string{b.url, b.group, b.resource, b.name})
}

func compareRules(a, b Rule) int {
	for _, pair := range [][2][]string{
		{a.NonResourceURLs, b.NonResourceURLs}, {a.APIGroups, b.APIGroups}, {a.Resources, b.Resources}, {a.ResourceNames, b.ResourceNames}, {a.Verbs, b.Verbs},
	} {
		if c := slices.Compare(pair[0], pair[1]); c != 0 {
			return c
		}
	}
	return 0
}
