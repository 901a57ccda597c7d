package bundle

import (
	"fmt"
	"slices"

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
	n := Note{Position: at, Subject: role.String(), Dropped: true, Rule: "moved-role",
		Reason: fmt.Sprintf("is bound in namespace %s, but OLM grants the permissions of a CSV in the operator's namespace and those of its OperatorGroup only", namespace),
		Advice: "bind a ClusterRole with a ClusterRoleBinding if the operator needs them in every namespace; otherwise, let administrators apply the role and its binding",
	}
	if isMarked {
		n.Advice = "remove namespace= from the marker if the operator needs the permissions in every namespace; otherwise, let administrators apply the role and its binding"
	}
	if !slices.Contains(c.notes, n) {
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
		c.note(Note{Position: at, Subject: role.String(), Dropped: true, Rule: "unbound-role",
			Reason: "is bound by nothing in the input: it becomes a manifest of its own, which grants the operator nothing",
			Advice: "add a binding to the input"})
	}
	for _, r := range c.roles {
		check(r.Object)
	}
	for _, r := range c.clusterRoles {
		check(r.Object)
	}
}
