package ansiblerole

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

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
func (a *analysis) kinds(apiVersion, kind value, at diag.Position) []granted {
	names, complete := kind.texts()
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		complete = complete && known(name)
		return !known(name) || name == ""
	})
	if !complete || len(names) == 0 {
		if len(names) == 0 {
			a.notef(at, "the kind depends on variables; the manager's role may lack permissions for it")
		} else {
			a.notef(at, "the kind depends on variables; the manager's role has permissions for %s only", strings.Join(names, ", "))
		}
	}
	for _, s := range kind.settable {
		a.notef(s.at, "a kind depends on %s, which custom resources can set; the manager's role has permissions for %s only", s.name, strings.Join(names, ", "))
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
		all = append(all, a.kindsNamed(name, groups, at)...)
	}
	return all
}

// kindsNamed returns the kinds with a name in groups, which can have unknown parts: those that are well-known, if any is.
func (a *analysis) kindsNamed(name string, groups []string, at diag.Position) []granted {
	var sure, guesses []granted
	add := func(group string) {
		gk := rbac.GroupKind{Group: group, Kind: a.kindName(group, name)}
		if resource, guessed := rbac.ResourceOf(gk, a.custom); guessed {
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
		for _, candidate := range a.groups() {
			if g := len(guesses); candidate != "extensions" && matches(group, candidate) {
				add(candidate)
				guesses = guesses[:g]
			}
		}
	}
	// Kubernetes has no such kinds.
	guesses = slices.DeleteFunc(guesses, func(g granted) bool { return g.Group == "" || len(project.CoreKinds(g.Group)) > 0 })
	if len(sure) == 0 && len(guesses) == 0 {
		for _, group := range a.groups() { // modules find kinds of other groups by their name, too
			if add(group); len(guesses) > 0 {
				guesses = nil
			}
		}
	}
	switch {
	case len(sure) > 0:
	case len(guesses) > 0:
		for _, g := range guesses {
			a.guess(g, at)
		}
		if !isKnown {
			a.notef(at, "the API group of %s depends on variables; the manager's role may lack permissions for it", name)
		}
		return guesses
	case isKnown:
		a.notef(at, "%s is not a kind of %s; the manager's role may lack permissions for it", name, displayGroups(groups))
	default:
		a.notef(at, "the API group of %s depends on variables; the manager's role may lack permissions for it", name)
	}
	return sure
}

// displayGroups returns the names of API groups.
func displayGroups(groups []string) string {
	names := slices.Clone(groups)
	for i, group := range names {
		if group == "" {
			names[i] = "the core group"
		}
	}
	return strings.Join(names, ", ")
}

// guess records a kind whose resource is a guess, of which the first place is noted.
func (a *analysis) guess(g granted, at diag.Position) {
	if first, ok := a.guesses[g]; a.final && (!ok || at.Compare(first) < 0) {
		a.guesses[g] = at
	}
}

// groups returns the API groups of the project and of well-known kinds.
func (a *analysis) groups() []string {
	groups := rbac.Groups()
	for _, gk := range slices.SortedFunc(maps.Keys(a.custom), compareKinds) {
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
func (a *analysis) kindName(group, name string) string {
	if name != strings.ToLower(name) {
		return name
	}
	if kind, ok := shortNames[name]; ok {
		return kind
	}
	for gk, plural := range a.custom {
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

// grant adds verbs on kinds.
func (a *analysis) grant(kinds []granted, verbs ...string) {
	if a.final {
		for _, g := range kinds {
			a.permissions.Grant(g.Group, []string{g.resource}, verbs...)
		}
	}
}

// grantSub adds verbs on a subresource of kinds.
func (a *analysis) grantSub(kinds []granted, subresource string, verbs ...string) {
	for _, g := range kinds {
		g.resource += "/" + subresource
		a.grant([]granted{g}, verbs...)
	}
}

// isWatched reports whether the runtime watches dependent objects of a kind.
func (a *analysis) isWatched(g granted) bool {
	if a.api.Watch.IgnoreDependents || slices.Contains(a.api.Watch.Blacklist, g.GroupKind) {
		return false
	}
	core, ok := project.FindCoreResource(g.Group, g.Kind)
	return !ok || core.Namespaced || a.api.Watch.WatchClusterScoped
}

// object adds the permissions for an object that a task handles with verbs. creates reports whether the task can create it.
func (a *analysis) object(o value, verbs []string, creates bool, at diag.Position, depth int) {
	kind := a.get(o, "kind")
	if texts, _ := kind.texts(); len(texts) == 1 && strings.HasSuffix(texts[0], "List") && depth < 3 {
		if inner := a.itemsOf(a.get(o, "items")); len(inner.items) > 0 {
			for _, item := range inner.items {
				a.object(item, verbs, creates, at, depth+1)
			}
			return
		}
		if texts[0] == "List" {
			a.notef(at, "the items of the list depend on variables; the manager's role may lack permissions for them")
			return
		}
	}
	kinds := a.kinds(a.get(o, "apiVersion"), kind, at)
	a.grant(kinds, verbs...)
	if !creates {
		return
	}
	for _, g := range kinds {
		if a.isWatched(g) {
			a.grant([]granted{g}, "list", "watch")
		}
		a.required(g.GroupKind, o, at)
	}
	for _, owner := range a.itemsOf(a.get(a.get(o, "metadata"), "ownerReferences")).items {
		if can, _ := a.get(owner, "blockOwnerDeletion").truth(); can {
			a.grantSub(a.kinds(a.get(owner, "apiVersion"), a.get(owner, "kind"), at), "finalizers", "update")
		}
	}
}

// required adds the permissions that Kubernetes requires of those who create an object of a kind.
func (a *analysis) required(kind rbac.GroupKind, o value, at diag.Position) {
	author := rbac.Author{
		Permissions: a.permissions, Source: "project", Varies: func(text string) bool { return !known(text) }, Variation: "depends on variables",
		Fix:     "grant the manager its permissions",
		Display: func(text string) string { return strings.ReplaceAll(text, unknown, "…") },
		Note:    func(text string) { a.notef(at, "%s", text) },
	}
	if !a.final {
		author.Permissions = rbac.Permissions{}
	}
	switch kind {
	case rbac.GroupKind{Group: groupRBAC, Kind: "Role"}, rbac.GroupKind{Group: groupRBAC, Kind: "ClusterRole"}:
		object := a.decoded(o, kind.Kind)
		if rules := a.get(o, "rules"); rules.open && len(rules.alts) == 0 {
			a.notef(at, "the rules of the %s depend on variables; grant the manager its permissions", kind.Kind)
		}
		author.Role(object)
		metadata, _ := object["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		key := rbac.RoleKey{Kind: kind.Kind, Name: name}
		a.roles[key] = a.roles[key] || rbac.IsAggregated(object)
	case rbac.GroupKind{Group: groupRBAC, Kind: "RoleBinding"}, rbac.GroupKind{Group: groupRBAC, Kind: "ClusterRoleBinding"}:
		object := a.decoded(o, kind.Kind)
		refs := a.get(o, "roleRef")
		names := a.get(refs, "name").patterns()
		kinds, complete := a.get(refs, "kind").texts()
		if !complete || len(kinds) == 0 {
			kinds = []string{"ClusterRole", "Role"}
		}
		for _, refKind := range kinds {
			for _, name := range names {
				object["roleRef"] = map[string]any{"kind": refKind, "name": name}
				// Names differ in parts that are unknown here; all namespaces are taken for one.
				author.Binding(object, "", a.roles)
			}
		}
	case rbac.GroupKind{Group: "route.openshift.io", Kind: "Route"}:
		// OpenShift requires it for routes with a host.
		a.grant([]granted{{kind, "routes/custom-host"}}, "create", "update")
	}
}

// decoded returns an object with the texts that it can contain; those that are not known contain unknown.
func (a *analysis) decoded(o value, kind string) map[string]any {
	object, _ := a.decode(o, 0).(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	object["kind"] = kind
	return object
}

// decode converts a value. Where there are several alternatives, the first one is used, or all items of lists.
func (a *analysis) decode(v value, depth int) any {
	if depth > 12 || a.spend(1) {
		return nil
	}
	if isList(v) {
		all := []any{}
		for _, item := range a.itemsOf(v).items {
			if texts, _ := item.texts(); len(texts) > 1 {
				for _, text := range texts {
					all = append(all, text)
				}
				continue
			}
			all = append(all, a.decode(item, depth+1))
		}
		return all
	}
	for _, alt := range v.alts {
		switch alt := alt.(type) {
		case string:
			return alt
		case bound:
			result := map[string]any{}
			for key := range fields(alt.node) {
				if _, ok := result[key]; !ok {
					result[key] = a.decode(a.getNode(alt, key), depth+1)
				}
			}
			return result
		case *dict:
			result := map[string]any{}
			for _, key := range slices.Sorted(maps.Keys(alt.fields)) {
				result[key] = a.decode(alt.fields[key], depth+1)
			}
			return result
		}
	}
	if v.open {
		return unknown
	}
	return nil
}

// position returns where an object begins.
func (a *analysis) position(node *yaml.Node, otherwise diag.Position) diag.Position {
	if p, ok := a.places[node]; ok {
		return diag.Position{File: p.file, Line: p.line}
	}
	return otherwise
}
