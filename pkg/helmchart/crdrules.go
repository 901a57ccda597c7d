package helmchart

import "github.com/operon-sdk/operon/pkg/rbac"

// The values of ChartAPI.CRDs that need fewer permissions than the default.
const (
	crdsCreate = "create"
	crdsSkip   = "skip"
)

// The verbs of the manager on the CRDs of crds/, which are never deleted. The permission to create objects can't be limited to names.
// A watch can: it selects the object by its name.
var (
	createdVerbs  = []string{"get"}
	replacedVerbs = []string{"get", "list", "patch", "watch"}
)

// crds adds the permissions for the objects in the crds directory of a chart. Only CRDs are replaced; other objects are created.
func (r *ruler) crds(api ChartAPI) {
	if api.CRDs == crdsSkip {
		return
	}
	for _, o := range flatten(api.Rendered.CRDs) {
		kind := o.groupKind()
		if kind.Kind == "" {
			continue
		}
		verbs := createdVerbs
		if isCRD(kind) && api.CRDs != crdsCreate {
			verbs = replacedVerbs
		}
		resource := r.resource(kind, o.template())
		r.permissions.Grant(kind.Group, []string{resource}, "create")
		r.permissions.Add(rbac.Target{Group: kind.Group, Resource: resource, Name: o.text("metadata", "name")}, verbs...)
	}
}

func isCRD(kind rbac.GroupKind) bool {
	return kind == rbac.GroupKind{Group: groupCRD, Kind: "CustomResourceDefinition"}
}
