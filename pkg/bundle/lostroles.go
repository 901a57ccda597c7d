package bundle

import (
	"fmt"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// markerOf returns the position of the marker of a role, or else its own.
func markerOf(role manifest.Object, marker func(manifest.Object) (diag.Position, bool)) (at diag.Position, isMarked bool) {
	if marker != nil {
		if at, isMarked = marker(role); isMarked {
			return at, true
		}
	}
	return role.Position, false
}

// noteMovedRole notes that a CSV cannot grant the operator a role in another namespace.
func (c *collection) noteMovedRole(role manifest.Object, namespace string, marker func(manifest.Object) (diag.Position, bool)) {
	at, isMarked := markerOf(role, marker)
	n := diag.Finding{Position: at, Object: role.String(), Severity: diag.Warning, Rule: "moved-role",
		Problem: fmt.Sprintf("is bound in namespace %s, but OLM grants the permissions of a CSV in the operator's namespace and in the namespaces of its OperatorGroup only", namespace),
		Fix:     "bind a ClusterRole with a ClusterRoleBinding if the operator needs them in every namespace; otherwise, let administrators apply the role and its binding",
	}
	if isMarked {
		n.Fix = "remove namespace= from the marker if the operator needs the permissions in every namespace; otherwise, let administrators apply the role and its binding"
	}
	if !c.notes.Has(n) {
		c.note(n)
	}
}

// noteUnboundRoles notes the roles for the operator that no binding of the input binds.
func (c *collection) noteUnboundRoles(bound map[string]bool, marker func(manifest.Object) (diag.Position, bool)) {
	check := func(role manifest.Object) {
		at, isMarked := markerOf(role, marker)
		if !isMarked || bound[roleID(role)] {
			return
		}
		c.note(diag.Finding{Position: at, Object: role.String(), Severity: diag.Warning, Rule: "unbound-role",
			Problem: "is bound by nothing in the input: it becomes a manifest of its own, which grants the operator nothing",
			Fix:     "add a binding to the input"})
	}
	for _, r := range c.roles {
		check(r.Object)
	}
	for _, r := range c.clusterRoles {
		check(r.Object)
	}
}
