package action

import (
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/rolebinding"
)

// A MarkerRole is a generated role of markers with a name or namespace of their own. The scaffold's binding does not bind it.
type MarkerRole struct {
	manifest.Object
	File string
	// Marker is the position of the first marker, or of the role if it cannot be found.
	Marker diag.Position
}

// GeneratedRoles are the marker roles of a project. A bundle made from the project contains them with one of the prefixes, and with a unique
// name if the names of several Roles were equal.
type GeneratedRoles struct {
	All      []MarkerRole
	Prefixes []string
	// Reported are the findings about them.
	Reported diag.Findings
}

// Marker returns the position of the marker of a role in a bundle.
func (g GeneratedRoles) Marker(role manifest.Object) (diag.Position, bool) {
	for _, sameNamespace := range []bool{true, false} { // a kustomization can have changed the namespace
		for _, r := range g.All {
			if r.Kind() != role.Kind() || sameNamespace && r.Namespace() != role.Namespace() {
				continue
			}
			for _, prefix := range append(g.Prefixes, "") {
				if role.Name() == prefix+r.Name() || role.Name() == prefix+rolebinding.UniqueName(r.Name(), r.Namespace()) {
					return r.Marker, true
				}
			}
		}
	}
	return diag.Position{}, false
}
