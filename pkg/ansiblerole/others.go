package ansiblerole

import (
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/watches"
)

// grantOthers adds the permissions to watch the objects that watchOtherResources selects, and to read and watch the sources of varsFrom.
func (a *analysis) grantOthers(api API) {
	for _, source := range api.Watch.Sources {
		a.rules.permissions.AddSource(source)
	}
	at := diag.Position{File: watches.FileName}
	for _, kind := range api.Watch.Others {
		resource, guessed := rbac.ResourceOf(kind, a.rules.custom)
		g := granted{kind, resource}
		if guessed {
			a.rules.guess(g, at)
		}
		a.rules.grant([]granted{g}, "list", "watch")
	}
}
