package ansiblerole

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rbac"
)

// A granted is a kind with its resource.
type granted struct {
	rbac.GroupKind
	resource string
}

// kinds returns the kinds that an API version and a kind can be. Kinds that depend on variables are noted.
func (r *rules) kinds(apiVersion, kind value, at diag.Position) []granted {
	names, complete := kind.texts()
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		complete = complete && known(name)
		return !known(name) || name == ""
	})
	if !complete || len(names) == 0 {
		if len(names) == 0 {
			r.notef(at, "the kind depends on variables; the manager's role may lack permissions for it")
		} else {
			r.notef(at, "the kind depends on variables; the manager's role has permissions for %s only", strings.Join(names, ", "))
		}
	}
	for _, s := range kind.settable {
		r.notef(s.at, "a kind depends on %s, which custom resources can set; the manager's role has permissions for %s only", s.name, strings.Join(names, ", "))
	}
	var groups []string
	for _, text := range apiVersion.patterns() {
		group, _, ok := strings.Cut(text, "/")
		switch {
		case ok:
			groups = append(groups, group)
		case known(text):
			groups = append(groups, "")
		default:
			groups = append(groups, unknown)
		}
	}
	var all []granted
	for _, name := range names {
		all = append(all, r.kindsNamed(name, groups, at)...)
	}
	return all
}

// kindsNamed returns the kinds with a name in groups, which can have unknown parts: only well-known kinds, if there are any.
func (r *rules) kindsNamed(name string, groups []string, at diag.Position) []granted {
	var sure, guesses []granted
	add := func(group string) {
		gk := rbac.GroupKind{Group: group, Kind: r.kindName(group, name)}
		if resource, guessed := rbac.ResourceOf(gk, r.custom); guessed {
			guesses = append(guesses, granted{gk, resource})
		} else if g := (granted{gk, resource}); !slices.Contains(sure, g) {
			sure = append(sure, g)
		}
	}
	isKnown := true
	for _, group := range groups {
		if known(group) {
			add(group)
			continue
		}
		isKnown = false
		for _, candidate := range r.groups() {
			if g := len(guesses); candidate != "extensions" && matches(group, candidate) {
				add(candidate)
				guesses = guesses[:g]
			}
		}
	}
	// Kubernetes has no such kinds.
	guesses = slices.DeleteFunc(guesses, func(g granted) bool { return g.Group == "" || len(project.CoreKinds(g.Group)) > 0 })
	if len(sure) == 0 && len(guesses) == 0 {
		for _, group := range r.groups() { // modules find kinds of other groups by their name, too
			if add(group); len(guesses) > 0 {
				guesses = nil
			}
		}
	}
	switch {
	case len(sure) > 0:
	case len(guesses) > 0:
		for _, g := range guesses {
			r.guess(g, at)
		}
		if !isKnown {
			r.notef(at, "the API group of %s depends on variables; the manager's role may lack permissions for it", name)
		}
		return guesses
	case isKnown:
		r.notef(at, "%s is not a kind of %s; the manager's role may lack permissions for it", name, displayGroups(groups))
	default:
		r.notef(at, "the API group of %s depends on variables; the manager's role may lack permissions for it", name)
	}
	return sure
}

func displayGroups(groups []string) string {
	names := slices.Clone(groups)
	for i, group := range names {
		if group == "" {
			names[i] = "the core group"
		}
	}
	return strings.Join(names, ", ")
}

// guess records a kind whose resource is a guess. Only its first place is noted.
func (r *rules) guess(g granted, at diag.Position) {
	if first, ok := r.guesses[g]; r.final && (!ok || at.Compare(first) < 0) {
		r.guesses[g] = at
	}
}

// groups returns the API groups of the project and of well-known kinds.
func (r *rules) groups() []string {
	groups := rbac.Groups()
	for _, gk := range slices.SortedFunc(maps.Keys(r.custom), compareKinds) {
		if !slices.Contains(groups, gk.Group) {
			groups = append(groups, gk.Group)
		}
	}
	return groups
}

func compareKinds(a, b rbac.GroupKind) int {
	return strings.Compare(a.Group+"/"+a.Kind, b.Group+"/"+b.Kind)
}

// shortNames are short names of resources that tasks use as kinds. It is constant.
var shortNames = map[string]string{
	"po": "Pod", "svc": "Service", "cm": "ConfigMap", "ns": "Namespace", "sa": "ServiceAccount", "pvc": "PersistentVolumeClaim",
	"pv": "PersistentVolume", "no": "Node", "deploy": "Deployment", "ds": "DaemonSet", "sts": "StatefulSet", "rs": "ReplicaSet",
	"ing": "Ingress", "crd": "CustomResourceDefinition", "hpa": "HorizontalPodAutoscaler", "pdb": "PodDisruptionBudget", "cj": "CronJob",
	"netpol": "NetworkPolicy", "sc": "StorageClass", "ep": "Endpoints", "ev": "Event",
}

// kindName returns the kind for a name that can also be the plural, the singular or a short name of the resource.
func (r *rules) kindName(group, name string) string {
	if name != strings.ToLower(name) {
		return name
	}
	if kind, ok := shortNames[name]; ok {
		return kind
	}
	for gk, plural := range r.custom {
		if gk.Group == group && (plural == name || strings.ToLower(gk.Kind) == name) {
			return gk.Kind
		}
	}
	for _, kind := range rbac.Kinds(group) {
		if lower := strings.ToLower(kind); lower == name || project.RegularPlural(kind) == name {
			return kind
		}
	}
	return name
}
