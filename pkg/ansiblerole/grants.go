package ansiblerole

import (
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// The rules of the manager's role, and what is needed to find the resources of kinds.
type rules struct {
	*progress
	eval        *evaluator
	permissions rbac.Permissions
	// custom are the resources of the kinds of the project.
	custom map[rbac.GroupKind]string
	// guesses are the first places of the kinds whose resource is a guess.
	guesses map[granted]diag.Position
	// roles are the roles among the objects of the current kind.
	roles map[rbac.RoleKey]bool
}

func newRules(eval *evaluator, apis []API, p *progress) *rules {
	r := &rules{progress: p, eval: eval, permissions: rbac.Permissions{}, custom: map[rbac.GroupKind]string{}, guesses: map[granted]diag.Position{}, roles: map[rbac.RoleKey]bool{}}
	for _, api := range apis {
		r.custom[rbac.GroupKind{Group: api.Group, Kind: api.Kind}] = api.Plural
	}
	for _, name := range eval.files.paths {
		if path.Dir(name) == "config/crd/bases" {
			r.addCRD(name)
		}
	}
	return r
}

func (r *rules) grant(kinds []granted, verbs ...string) {
	if r.final {
		for _, g := range kinds {
			r.permissions.Grant(g.Group, []string{g.resource}, verbs...)
		}
	}
}

func (r *rules) grantSub(kinds []granted, subresource string, verbs ...string) {
	for _, g := range kinds {
		g.resource += "/" + subresource
		r.grant([]granted{g}, verbs...)
	}
}

// isWatched reports whether the runtime watches dependent objects of a kind.
func (r *rules) isWatched(g granted) bool {
	if r.eval.env.api.Watch.IgnoreDependents || slices.Contains(r.eval.env.api.Watch.Blacklist, g.GroupKind) {
		return false
	}
	core, ok := project.FindCoreResource(g.Group, g.Kind)
	return !ok || core.Namespaced || r.eval.env.api.Watch.WatchClusterScoped
}

// objectSteps are the steps of an object, in addition to its fields.
const objectSteps = 20

// object adds the permissions for an object that a task handles with verbs. creates reports whether the task can create it.
func (r *rules) object(o value, verbs []string, creates bool, at diag.Position, depth int) {
	if r.spend(objectSteps) {
		return
	}
	kind := r.eval.get(o, "kind")
	if texts, _ := kind.texts(); len(texts) == 1 && strings.HasSuffix(texts[0], "List") && depth < 3 {
		if inner := r.eval.itemsOf(r.eval.get(o, "items")); len(inner.items) > 0 {
			for _, item := range inner.items {
				r.object(item, verbs, creates, at, depth+1)
			}
			return
		}
		if texts[0] == "List" {
			r.notef(at, "the items of the list depend on variables; the manager's role may lack permissions for them")
			return
		}
	}
	kinds := r.kinds(r.eval.get(o, "apiVersion"), kind, at)
	r.grant(kinds, verbs...)
	if !creates {
		return
	}
	for _, g := range kinds {
		if r.isWatched(g) {
			r.grant([]granted{g}, "list", "watch")
		}
		r.required(g.GroupKind, o, at)
	}
	for _, owner := range r.eval.itemsOf(r.eval.get(r.eval.get(o, "metadata"), "ownerReferences")).items {
		if can, _ := r.eval.get(owner, "blockOwnerDeletion").truth(); can {
			r.grantSub(r.kinds(r.eval.get(owner, "apiVersion"), r.eval.get(owner, "kind"), at), "finalizers", "update")
		}
	}
}

// required adds the permissions that Kubernetes requires of those who create an object of a kind.
func (r *rules) required(kind rbac.GroupKind, o value, at diag.Position) {
	author := rbac.Author{
		Permissions: r.permissions, Source: "project", Varies: func(text string) bool { return !known(text) }, Variation: "depends on variables",
		Fix:     "grant the manager its permissions",
		Display: func(text string) string { return strings.ReplaceAll(text, unknown, "…") },
		Note:    func(text string) { r.notef(at, "%s", text) },
	}
	if !r.final {
		author.Permissions = rbac.Permissions{}
	}
	switch kind {
	case rbac.GroupKind{Group: groupRBAC, Kind: "Role"}, rbac.GroupKind{Group: groupRBAC, Kind: "ClusterRole"}:
		object := r.decoded(o, kind.Kind)
		if rules := r.eval.get(o, "rules"); rules.open && len(rules.alts) == 0 {
			r.notef(at, "the rules of the %s depend on variables; grant the manager its permissions", kind.Kind)
		}
		author.Role(object)
		metadata, _ := object["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		key := rbac.RoleKey{Kind: kind.Kind, Name: name}
		r.roles[key] = r.roles[key] || rbac.IsAggregated(object)
	case rbac.GroupKind{Group: groupRBAC, Kind: "RoleBinding"}, rbac.GroupKind{Group: groupRBAC, Kind: "ClusterRoleBinding"}:
		object := r.decoded(o, kind.Kind)
		refs := r.eval.get(o, "roleRef")
		names := r.eval.get(refs, "name").patterns()
		kinds, complete := r.eval.get(refs, "kind").texts()
		if !complete || len(kinds) == 0 {
			kinds = []string{"ClusterRole", "Role"}
		}
		for _, refKind := range kinds {
			for _, name := range names {
				object["roleRef"] = map[string]any{"kind": refKind, "name": name}
				// Names differ in parts that are unknown here; all namespaces are taken for one.
				author.Binding(object, "", r.roles)
			}
		}
	case rbac.GroupKind{Group: "route.openshift.io", Kind: "Route"}:
		// OpenShift requires it for routes with a host.
		r.grant([]granted{{kind, "routes/custom-host"}}, "create", "update")
	}
}

// decoded returns an object with the strings that it can contain; strings that are not known contain unknown.
func (r *rules) decoded(o value, kind string) map[string]any {
	object, _ := r.decode(o, 0).(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	object["kind"] = kind
	return object
}

// decode converts a value. Where there are several alternatives, the first one is used, or all items of lists.
func (r *rules) decode(v value, depth int) any {
	if depth > 12 || r.spend(1) {
		return nil
	}
	if isList(v) {
		all := []any{}
		for _, item := range r.eval.itemsOf(v).items {
			if texts, _ := item.texts(); len(texts) > 1 {
				for _, text := range texts {
					all = append(all, text)
				}
				continue
			}
			all = append(all, r.decode(item, depth+1))
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
					result[key] = r.decode(r.eval.getNode(alt, key), depth+1)
				}
			}
			return result
		case *dict:
			result := map[string]any{}
			for _, key := range slices.Sorted(maps.Keys(alt.fields)) {
				result[key] = r.decode(alt.fields[key], depth+1)
			}
			return result
		}
	}
	if v.open {
		return unknown
	}
	return nil
}

func (r *rules) addCRD(name string) {
	documents, err := safeyaml.Documents[yaml.Node]([]byte(r.eval.files.read(name)))
	if err != nil {
		return // reported by other commands
	}
	for _, document := range documents {
		spec := field(content(document), "spec")
		group, names := text(field(spec, "group")), field(spec, "names")
		if kind, plural := text(field(names, "kind")), text(field(names, "plural")); kind != "" && plural != "" {
			r.custom[rbac.GroupKind{Group: group, Kind: kind}] = plural
		}
	}
}

// argumentKinds returns the kinds that the arguments kind and api_version name. The default of kind is used if it is not empty.
func (r *rules) argumentKinds(c *call, defaultKind string) []granted {
	kind, ok := c.argument("kind")
	if !ok {
		if defaultKind == "" {
			return nil
		}
		kind = textValue(defaultKind)
	}
	return r.kinds(c.apiVersion(), kind, c.at)
}
