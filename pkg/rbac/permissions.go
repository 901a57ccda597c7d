package rbac

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

// A Target is what verbs apply to: a resource of a group, one object of it, or a URL that is not of a resource.
type Target struct{ Group, Resource, Name, URL string }

// Permissions maps targets to verbs.
type Permissions map[Target]map[string]bool

// Add adds verbs.
func (p Permissions) Add(t Target, verbs ...string) {
	if p[t] == nil {
		p[t] = map[string]bool{}
	}
	for _, verb := range verbs {
		p[t][verb] = true
	}
}

// Grant adds verbs on resources of a group, with all names.
func (p Permissions) Grant(group string, resources []string, verbs ...string) {
	for _, resource := range resources {
		p.Add(Target{Group: group, Resource: resource}, verbs...)
	}
}

// AddSource adds the permissions to read and watch a Secret or ConfigMap with values, or all in a namespace if it has no name. The runtime
// watches an object with a name by itself.
func (p Permissions) AddSource(s Source) {
	p.Add(Target{Resource: strings.ToLower(s.Kind) + "s", Name: s.Name}, "get", "list", "watch")
}

// A Source is a Secret or ConfigMap with values of custom resources. The name is empty if these contain it.
type Source struct{ Kind, Name string }

// A Dependency is an object that custom resources depend on. The name is empty if these contain it.
type Dependency struct {
	GroupKind
	Name string
}

// AddDependency adds the permissions to read and watch an object with a resource, or all of them if it has no name.
func (p Permissions) AddDependency(d Dependency, resource string) {
	p.Add(Target{Group: d.Group, Resource: resource, Name: d.Name}, "get", "list", "watch")
}

// AddRule adds the permissions of a rule.
func (p Permissions) AddRule(r Rule) {
	for _, url := range r.NonResourceURLs {
		p.Add(Target{URL: url}, r.Verbs...)
	}
	names := r.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			for _, name := range names {
				p.Add(Target{Group: group, Resource: resource, Name: name}, r.Verbs...)
			}
		}
	}
}

// covers reports whether permissions on t include those on other, as the authorizer of Kubernetes decides.
func (t Target) covers(other Target) bool {
	if t.URL != "" || other.URL != "" {
		prefix, open := strings.CutSuffix(t.URL, all)
		return t.URL == other.URL || t.URL != "" && other.URL != "" && open && strings.HasPrefix(other.URL, prefix)
	}
	return (t.Group == all || t.Group == other.Group) && t.coversResource(other.Resource) && (t.Name == "" || t.Name == other.Name)
}

func (t Target) coversResource(resource string) bool {
	_, subresource, ok := strings.Cut(resource, "/")
	return t.Resource == all || t.Resource == resource || ok && t.Resource == all+"/"+subresource
}

// Allow reports whether the permissions include a verb on a target.
func (p Permissions) Allow(t Target, verb string) bool {
	for other, verbs := range p {
		if (verbs[verb] || verbs[all]) && other.covers(t) {
			return true
		}
	}
	return false
}

// Without returns the permissions on targets that others do not include completely.
func (p Permissions) Without(others Permissions) Permissions {
	rest := Permissions{}
	for t, verbs := range p {
		for verb := range verbs {
			if !others.Allow(t, verb) {
				rest[t] = verbs
				break
			}
		}
	}
	return rest
}

// reduced returns equivalent permissions without those that other targets include.
func (p Permissions) reduced() Permissions {
	reduced := Permissions{}
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
			if !reduced.Allow(t, verb) {
				reduced[t] = verbs
				break
			}
		}
	}
	return reduced
}

// Rules returns the permissions as rules: one for each group and set of verbs, sorted. URLs are last.
func (p Permissions) Rules() []Rule {
	reduced := p.reduced()
	// The names of one resource with the same verbs are in one rule, and so are resources with the same names and verbs.
	type named struct{ group, resource, verbs string }
	names := map[named][]string{}
	type key struct{ url, group, names, verbs string }
	members := map[key][]string{}
	for _, t := range slices.SortedFunc(maps.Keys(reduced), compareTargets) {
		verbs := strings.Join(slices.Sorted(maps.Keys(reduced[t])), " ")
		switch {
		case t.URL != "":
			members[key{url: all, verbs: verbs}] = append(members[key{url: all, verbs: verbs}], t.URL)
		case t.Name != "":
			names[named{t.Group, t.Resource, verbs}] = append(names[named{t.Group, t.Resource, verbs}], t.Name)
		default:
			members[key{group: t.Group, verbs: verbs}] = append(members[key{group: t.Group, verbs: verbs}], t.Resource)
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

func compareTargets(a, b Target) int {
	return slices.Compare([]string{a.URL, a.Group, a.Resource, a.Name}, []string{b.URL, b.Group, b.Resource, b.Name})
}

// Equal reports whether two rules are the same, with the same order in each list.
func (r Rule) Equal(other Rule) bool { return compareRules(r, other) == 0 }

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
