package ansiblerole

import (
	"github.com/operon-sdk/operon/pkg/ansibleoperator/variables"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/watches"
)

// An API is a kind of the project with its role or playbook.
type API struct {
	// Group is the API group of the kind with its domain.
	Group, Version, Kind string
	// Plural is the resource of the kind.
	Plural string
	Watch  Watch
}

// A Watch is the part of an entry of watches.yaml that matters here. All fields can be empty.
type Watch struct {
	// Role is the name or path of a role, and Playbook the path of a playbook, which takes precedence. Paths are relative to the project
	// or below /opt/ansible.
	Role, Playbook string
	// FinalizerRole and FinalizerPlaybook run for a deleted resource.
	FinalizerRole, FinalizerPlaybook string
	// Vars are the variables of the entry, and FinalizerVars the variables of its finalizer.
	Vars, FinalizerVars map[string]any
	// Object is the name of the variable with the custom resource.
	Object string
	// IgnoreDependents is true if dependent objects are not watched, and Blacklist are kinds that are not watched.
	IgnoreDependents bool
	Blacklist        []rbac.GroupKind
	// Others are kinds of objects that are watched although no run has created them.
	Others []rbac.GroupKind
	// Sources are the Secrets and ConfigMaps with variables of runs.
	Sources []rbac.Source
	// Dependencies are the objects that custom resources depend on.
	Dependencies []rbac.Dependency
	// TargetNamespace reports whether custom resources are cluster-scoped, with a target namespace.
	TargetNamespace bool
	// KeepNames is true if keys of spec are not converted to snake case.
	KeepNames bool
	// WatchClusterScoped is true if dependent objects without a namespace are watched, too.
	WatchClusterScoped bool
}

// Rules returns the rules of the manager's role for the roles and playbooks of a project, sorted. The files are the project's. The notes state what the rules may lack: objects whose kind depends on variables, commands that use the cluster, kinds
// whose resource is a guess, files that cannot be read, and what is too complex to be analyzed completely.
func Rules(files Files, apis []API) ([]rbac.Rule, diag.Findings) {
	a := newAnalysis(files, apis)
	for _, api := range apis {
		a.analyze(api)
		a.grantOthers(api)
	}
	a.notes = append(a.notes, a.skipped.findings()...)
	for g, at := range a.rules.guesses {
		a.notes.Addf(at, "%s is not a kind of Kubernetes or of the project; its resource in the manager's role is a guess: %s", g.GroupKind, g.resource)
	}
	return a.rules.permissions.Rules(), a.notes.Sort()
}

// The verbs of the runtime on its own kinds.
var (
	kindVerbs      = []string{"get", "list", "patch", "update", "watch"}
	statusVerbs    = []string{"get", "patch", "update"}
	finalizerVerbs = []string{"update"}
)

// groupRBAC is the API group of objects that require more permissions than those on their resource.
const groupRBAC = "rbac.authorization.k8s.io"

// grantRuntime adds the permissions that the runtime needs, whatever the role does.
func grantRuntime(p rbac.Permissions, api API) {
	p.Grant(api.Group, []string{api.Plural}, kindVerbs...)
	p.Grant(api.Group, []string{api.Plural + "/status"}, statusVerbs...)
	p.Grant(api.Group, []string{api.Plural + "/finalizers"}, finalizerVerbs...)
	p.Grant("", []string{"events"}, "create", "patch")
	p.Grant("events.k8s.io", []string{"events"}, "create", "patch")
}

// NewWatch returns what matters here of an entry of watches.yaml.
func NewWatch(w watches.AnsibleWatch) Watch {
	watch := Watch{
		Role: w.Role, Playbook: w.Playbook, Vars: w.Vars,
		IgnoreDependents: !w.WatchDependentResources, WatchClusterScoped: w.WatchClusterScopedResources,
		KeepNames: !w.SnakeCaseParameters, TargetNamespace: w.TargetNamespace.IsSet(), Object: variables.ObjectName(w.Group, w.Kind),
	}
	for _, gvk := range w.Blacklist {
		watch.Blacklist = append(watch.Blacklist, rbac.GroupKind{Group: gvk.Group, Kind: gvk.Kind})
	}
	for _, other := range w.WatchOtherResources {
		watch.Others = append(watch.Others, rbac.GroupKind{Group: other.Group, Kind: other.Kind})
	}
	for _, source := range w.VarsFrom {
		watch.Sources = append(watch.Sources, rbac.Source{Kind: source.Kind, Name: source.Name})
	}
	for _, d := range w.DependsOn {
		watch.Dependencies = append(watch.Dependencies, rbac.Dependency{GroupKind: rbac.GroupKind{Group: d.Group, Kind: d.Kind}, Name: d.Name})
	}
	if w.Finalizer != nil {
		watch.FinalizerRole, watch.FinalizerPlaybook = w.Finalizer.Role, w.Finalizer.Playbook
		watch.FinalizerVars = w.Finalizer.Vars
	}
	return watch
}
