package helmchart

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/rbac"
)

// The verbs of the manager on objects of charts. The runtime creates, changes and deletes the objects, and watches their metadata.
var (
	objectVerbs = []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	lookupVerbs = []string{"get", "list"}
)

// A ChartAPI is a kind of the project with its chart.
type ChartAPI struct {
	// Group is the API group of the kind, and Plural its resource.
	Group, Plural string
	// Dir is the directory of the chart in the project, such as helm-charts/memcached.
	Dir   string
	Files Files
	// Resources are the resources of the kinds whose CRDs the project deploys.
	Resources map[rbac.GroupKind]string
	// Rendered is the result of Explore.
	Rendered *Rendered
	// CRDs is the key crds of the kind in watches.yaml: create, createReplace or skip. Empty is createReplace.
	CRDs string
	// Tests reports whether the operator runs the tests of the chart.
	Tests bool
	// Sources are the key valuesFrom of the kind in watches.yaml.
	Sources []rbac.Source
	// Dependencies are the key dependsOn of the kind in watches.yaml.
	Dependencies []rbac.Dependency
}

// Rules returns the rules of the manager's role for the charts of a project, sorted. The notes state what the rules may lack: kinds
// whose resource is a guess, values that templates cannot be rendered with, and permissions that depend on names of releases.
func Rules(apis []ChartAPI) ([]rbac.Rule, diag.Findings) {
	r := &ruler{permissions: rbac.Permissions{}, custom: map[rbac.GroupKind]string{}}
	for _, api := range apis {
		customResources(api.Rendered.CRDs, r.custom)
		for _, set := range api.Rendered.all() {
			customResources(flatten(set.Objects), r.custom)
		}
	}
	for _, api := range apis {
		maps.Copy(r.custom, api.Resources)
	}
	for _, api := range apis {
		r.permissions.Grant(api.Group, []string{api.Plural, api.Plural + "/finalizers", api.Plural + "/status"}, objectVerbs...)
		for _, source := range api.Sources {
			r.permissions.AddSource(source)
		}
		r.dir = ""
		for _, dependency := range api.Dependencies {
			r.permissions.AddDependency(dependency, r.resource(dependency.GroupKind, "watches.yaml"))
		}
		r.chart(api)
	}
	if len(apis) > 0 {
		r.permissions.Grant("", []string{"namespaces"}, "get")
		r.permissions.Grant("", []string{"secrets"}, objectVerbs...) // the storage of releases
		r.permissions.Grant("", []string{"events"}, "create", "patch")
		r.permissions.Grant("events.k8s.io", []string{"events"}, "create", "patch")
	}
	return r.permissions.Rules(), r.notes.Sort()
}

// A ruler collects the permissions that charts need.
type ruler struct {
	permissions rbac.Permissions
	custom      map[rbac.GroupKind]string
	notes       diag.Findings
	// dir is the directory of the current chart.
	dir string
	// roles are the roles of the current chart; the value reports whether a role has the rules of other roles.
	roles map[rbac.RoleKey]bool
}

// notef adds a note about a template, given by the path in the chart.
func (r *ruler) notef(template, format string, args ...any) {
	r.notes = append(r.notes, diag.Finding{
		Position: diag.Position{File: path.Join(r.dir, template)}, Problem: fmt.Sprintf(format, args...),
	})
}

func (r *ruler) chart(api ChartAPI) {
	r.dir = api.Dir
	for _, warning := range api.Rendered.Warnings {
		r.notef("Chart.yaml", "%s", warning)
	}
	r.failures(api.Rendered)
	r.crds(api)
	r.recordSize(api.Rendered)
	r.lookups(api.Files)
	if !slices.ContainsFunc(api.Rendered.all(), func(s RenderedSet) bool { return s.Error == "" }) {
		r.unrendered(api.Files)
		return
	}
	r.roles = findRoles(api.Rendered.all())
	for _, set := range api.Rendered.all() {
		for _, o := range flatten(set.Objects) {
			if api.Tests || !o.isTest() {
				r.object(o)
			}
		}
	}
}

// failures adds notes about value sets that the chart cannot be rendered with, one for each reason.
func (r *ruler) failures(rendered *Rendered) {
	names := map[string][]string{}
	for _, set := range rendered.Failed() {
		name := set.Name
		if name != defaultValues {
			name += "=true"
		}
		names[set.Error] = append(names[set.Error], name)
	}
	for _, reason := range slices.Sorted(maps.Keys(names)) {
		r.notef("values.yaml", "the chart cannot be rendered with %s: %s", strings.Join(names[reason], ", or with "), reason)
	}
}

func (r *ruler) object(o RenderedObject) {
	kind := o.groupKind()
	if kind.Kind == "" {
		r.notef(o.template(), "contains an object without kind; the manager's role may lack permissions for it")
		return
	}
	resource := r.resource(kind, o.template())
	r.permissions.Grant(kind.Group, []string{resource}, objectVerbs...)
	switch kind {
	case rbac.GroupKind{Group: groupRBAC, Kind: "Role"}, rbac.GroupKind{Group: groupRBAC, Kind: "ClusterRole"}:
		r.author(o).Role(o.Object)
	case rbac.GroupKind{Group: groupRBAC, Kind: "RoleBinding"}, rbac.GroupKind{Group: groupRBAC, Kind: "ClusterRoleBinding"}:
		r.author(o).Binding(o.Object, o.roleNamespace(), r.roles)
	case rbac.GroupKind{Group: "route.openshift.io", Kind: "Route"}:
		// OpenShift requires it for routes with a host.
		r.permissions.Grant(kind.Group, []string{"routes/custom-host"}, "create", "update")
	case rbac.GroupKind{Group: groupPolicies, Kind: "ValidatingAdmissionPolicy"}, rbac.GroupKind{Group: groupPolicies, Kind: "MutatingAdmissionPolicy"}:
		// Kubernetes requires that the author of a policy, or of its binding, can read its parameters.
		if params := (RenderedObject{Object: fieldAt(o.Object, "spec", "paramKind")}); params.Object != nil {
			kind := params.groupKind()
			r.permissions.Grant(kind.Group, []string{r.resource(kind, o.template())}, lookupVerbs...)
		}
	}
}

// resource returns the resource of a kind, with a note if it is a guess.
func (r *ruler) resource(kind rbac.GroupKind, template string) string {
	resource, guessed := rbac.ResourceOf(kind, r.custom)
	if guessed {
		r.notef(template, "%s is not a kind of Kubernetes or of the chart; its resource in the manager's role is a guess: %s",
			kind, resource)
	}
	return resource
}

// template returns the path of the object's template in its chart. The rendered path begins with the name of the chart.
func (o RenderedObject) template() string {
	_, rest, ok := strings.Cut(o.Template, "/")
	if !ok {
		return o.Template
	}
	return rest
}

var (
	// templateAction matches actions of templates, without comments.
	templateAction = lazyregexp.New(`(?s)\{\{(?:-\s)?\s*[^-/\s].*?\}\}`)
	// lookup matches calls of Helm's function lookup with the API version and the kind.
	lookup = lazyregexp.New(`[^.$\w]lookup\s+(?:"([^"]*)"|([^\s"}]+))\s+(?:"([^"]*)"|([^\s"}]+))`)
)

// lookups adds the permissions to read the objects that templates look up in the cluster.
func (r *ruler) lookups(files Files) {
	for _, template := range templates(files) {
		for _, action := range templateAction.FindAll(files[template], -1) {
			for _, call := range lookup.FindAllSubmatch(action, -1) {
				apiVersion, kind := string(call[1]), string(call[3])
				if apiVersion == "" || kind == "" {
					r.notef(template, "calls lookup for a kind that depends on values; the manager's role may lack permissions to read it")
					continue
				}
				gk := rbac.GroupKind{Group: groupOf(apiVersion), Kind: kind}
				r.permissions.Grant(gk.Group, []string{r.resource(gk, template)}, lookupVerbs...)
			}
		}
	}
}

// literal matches a field at the beginning of an object whose value does not depend on values.
var literal = lazyregexp.New(`(?m)^(apiVersion|kind):[ \t]*["']?([\w./-]+)["']?[ \t]*(?:#.*)?\r?$`)

// unrendered adds the permissions for kinds in the text of templates, for charts that cannot be rendered at all.
func (r *ruler) unrendered(files Files) {
	for _, template := range templates(files) {
		for document := range strings.SplitSeq(string(files[template]), "\n---") {
			var o RenderedObject
			o.Object = map[string]any{}
			for _, field := range literal.FindAllStringSubmatch(document, -1) {
				o.Object[field[1]] = field[2]
			}
			if kind := o.groupKind(); kind.Kind != "" && o.text("apiVersion") != "" {
				r.permissions.Grant(kind.Group, []string{r.resource(kind, template)}, objectVerbs...)
			}
		}
	}
}

// templates returns the paths of templates, sorted.
func templates(files Files) []string {
	var paths []string
	for file := range files {
		if strings.HasPrefix(file, "templates/") || strings.Contains(file, "/templates/") {
			paths = append(paths, file)
		}
	}
	slices.Sort(paths)
	return paths
}
