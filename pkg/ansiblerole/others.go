package ansiblerole

import (
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/watches"
)

// grantOthers adds the permissions to watch the objects that watchOtherResources selects, and to read and watch the sources of varsFrom and
// the objects of dependsOn, and to find target namespaces.
func (a *analysis) grantOthers(api API) {
	for _, source := range api.Watch.Sources {
		a.rules.permissions.AddSource(source)
	}
	if api.Watch.TargetNamespace {
		a.rules.permissions.Grant("", []string{"namespaces"}, "get")
	}
	for _, kind := range api.Watch.Others {
		a.rules.grant([]granted{a.watched(kind)}, "list", "watch")
	}
	for _, dependency := range api.Watch.Dependencies {
		a.rules.permissions.AddDependency(dependency, a.watched(dependency.GroupKind).resource)
	}
}

// watched returns the resource of a kind in watches.yaml.
func (a *analysis) watched(kind rbac.GroupKind) granted {
	resource, guessed := rbac.ResourceOf(kind, a.rules.custom)
	g := granted{kind, resource}
	if guessed {
		a.rules.guess(g, diag.Position{File: watches.FileName})
	}
	return g
}
