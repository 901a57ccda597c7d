package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// defaultAccount is the account of pods that name none.
const defaultAccount = "default"

// accounts are the service accounts that the CSV creates, with the namespaces they are known to be in;
// no namespace means that any will do.
type accounts map[string]map[string]bool

// accounts finds the accounts of all deployments, and those that the caller adds.
func (c *collection) accounts(extra []string) accounts {
	found := accounts{}
	for _, d := range c.deployments {
		found.add(accountOf(d), d.Namespace())
	}
	for _, name := range extra {
		if found[name] == nil {
			found[name] = map[string]bool{}
		}
		for _, a := range c.serviceAccounts {
			if a.Name() == name {
				found.add(name, a.Namespace())
			}
		}
	}
	return found
}

func (a accounts) add(name, namespace string) {
	if a[name] == nil {
		a[name] = map[string]bool{}
	}
	if namespace != "" {
		a[name][namespace] = true
	}
}

// has tells whether a subject of a binding is one of the accounts.
func (a accounts) has(s rbacv1.Subject) bool {
	namespaces, ok := a[s.Name]
	return ok && s.Kind == kindAccount && (s.Namespace == "" || len(namespaces) == 0 || namespaces[s.Namespace])
}

// grants collects what the accounts may do, each role once per account.
type grants struct {
	rules map[string][]rbacv1.PolicyRule
	given map[string]bool
}

func (g *grants) give(account, role string, rules []rbacv1.PolicyRule) {
	if g.rules == nil {
		g.rules, g.given = map[string][]rbacv1.PolicyRule{}, map[string]bool{}
	}
	if key := account + "\x00" + role; !g.given[key] {
		g.given[key] = true
		g.rules[account] = append(g.rules[account], rules...)
	}
}

// permissions are the grants in the form of a CSV, sorted by account.
func (g *grants) permissions() []v1alpha1.StrategyDeploymentPermissions {
	permissions := []v1alpha1.StrategyDeploymentPermissions{}
	for _, account := range slices.Sorted(maps.Keys(g.rules)) {
		if len(g.rules[account]) > 0 {
			permissions = append(permissions, v1alpha1.StrategyDeploymentPermissions{ServiceAccountName: account, Rules: g.rules[account]})
		}
	}
	return permissions
}

// applyRBAC moves what is bound to the CSV's accounts into the install strategy. What is left in the
// collection belongs into files of its own: roles that nobody bound to them, and bindings without the
// CSV's accounts among their subjects. A role that is bound to one of the accounts is missing if it is neither in the
// input nor existing.
func (c *collection) applyRBAC(strategy *v1alpha1.StrategyDetailsDeployment, extra, existing []string) {
	ours := c.accounts(extra)
	var inNamespace, inCluster grants
	moved, needed := map[string]bool{}, map[string]bool{}

	// bind leaves the subjects that are not the CSV's, and reports whether nothing is left of a binding.
	bind := func(g *grants, at manifest.Object, ref rbacv1.RoleRef, subjects *[]rbacv1.Subject) (gone bool) {
		if ref.APIGroup != "" && ref.APIGroup != groupRBAC {
			return false
		}
		role, ok := c.role(at, ref)
		if !ok {
			switch {
			case !slices.ContainsFunc(*subjects, ours.has):
			case slices.Contains(existing, ref.Name) || isDefaultRole(ref):
				c.noteForeignRole(at, ref)
			default:
				c.missingRoles = append(c.missingRoles, manifest.Problem{Position: at.Position, Problem: fmt.Sprintf(
					"%s refers to the %s %s, which is not in the input, so that the bundle would lack permissions of the operator; "+
						"add it to the input, or give --existing-roles %[3]s if clusters have it", at, ref.Kind, ref.Name)})
			}
			return false
		}
		if len(*subjects) == 0 {
			c.note(Note{Position: at.Position, Subject: at.String(), Dropped: true,
				Reason: "has no subjects, so that it gives nobody anything; it is left out",
				Advice: "add its subjects, or delete it"})
			return true
		}
		*subjects = slices.DeleteFunc(*subjects, func(s rbacv1.Subject) bool {
			if !ours.has(s) {
				needed[role.id] = true
				return false
			}
			g.give(s.Name, role.id, role.rules)
			moved[role.id], gone = true, true
			return true
		})
		return gone && len(*subjects) == 0
	}

	c.roleBindings = leftOf(c.roleBindings, func(b *read[rbacv1.RoleBinding]) bool {
		return bind(&inNamespace, b.Object, b.value.RoleRef, &b.value.Subjects)
	})
	c.clusterRoleBindings = leftOf(c.clusterRoleBindings, func(b *read[rbacv1.ClusterRoleBinding]) bool {
		return bind(&inCluster, b.Object, b.value.RoleRef, &b.value.Subjects)
	})

	c.roles = slices.DeleteFunc(c.roles, func(r read[rbacv1.Role]) bool {
		return moved[roleID(r.Object)] && !needed[roleID(r.Object)]
	})
	c.clusterRoles = slices.DeleteFunc(c.clusterRoles, func(r read[rbacv1.ClusterRole]) bool {
		return moved[roleID(r.Object)] && !needed[roleID(r.Object)]
	})
	c.serviceAccounts = slices.DeleteFunc(c.serviceAccounts, func(a read[corev1.ServiceAccount]) bool {
		_, ok := ours[a.Name()] // whatever its namespace: all land in the operator's, where OLM makes this one
		return ok
	})
	strategy.Permissions = inNamespace.permissions()
	strategy.ClusterPermissions = inCluster.permissions()
}

// leftOf gives the bindings that are not gone, each as bind leaves it.
func leftOf[T any](bindings []read[T], bind func(*read[T]) (gone bool)) []read[T] {
	var left []read[T]
	for _, b := range bindings {
		if !bind(&b) {
			left = append(left, b)
		}
	}
	return left
}

// boundRole is what a binding refers to.
type boundRole struct {
	id    string
	rules []rbacv1.PolicyRule
}

func roleID(o manifest.Object) string { return o.Kind() + "/" + o.Namespace() + "/" + o.Name() }

// role finds the role that a binding refers to: a Role of the binding's own namespace, or a ClusterRole.
func (c *collection) role(binding manifest.Object, ref rbacv1.RoleRef) (boundRole, bool) {
	if ref.Kind == kindRole && binding.Kind() == "RoleBinding" {
		for _, exact := range []bool{true, false} { // a namespace that is left open is any
			for _, r := range c.roles {
				fits := r.Namespace() == binding.Namespace() || !exact && (r.Namespace() == "" || binding.Namespace() == "")
				if r.Name() == ref.Name && fits {
					return boundRole{roleID(r.Object), r.value.Rules}, true
				}
			}
		}
	}
	if ref.Kind == "ClusterRole" {
		for _, r := range c.clusterRoles {
			if r.Name() == ref.Name {
				return boundRole{roleID(r.Object), c.clusterRules(r)}, true
			}
		}
	}
	return boundRole{}, false
}

// clusterRules are the rules of a ClusterRole. Those of an aggregated one are put together from the
// input, sorted by name as the cluster does: the CSV has no place for an aggregation.
func (c *collection) clusterRules(r read[rbacv1.ClusterRole]) []rbacv1.PolicyRule {
	if r.value.AggregationRule == nil {
		return r.value.Rules
	}
	var parts []read[rbacv1.ClusterRole]
	for _, other := range c.clusterRoles {
		if other.Name() != r.Name() && aggregates(r.value.AggregationRule, other.value.Labels) {
			parts = append(parts, other)
		}
	}
	slices.SortFunc(parts, func(a, b read[rbacv1.ClusterRole]) int { return strings.Compare(a.Name(), b.Name()) })
	var (
		rules []rbacv1.PolicyRule
		names []string
	)
	for _, part := range parts {
		names = append(names, part.Name())
		for _, rule := range part.value.Rules {
			if !slices.ContainsFunc(rules, func(other rbacv1.PolicyRule) bool { return equalRule(rule, other) }) {
				rules = append(rules, rule)
			}
		}
	}
	n := Note{Position: r.Position, Subject: r.String()}
	if len(parts) == 0 {
		n.Dropped = true
		n.Reason = "aggregates ClusterRoles, and none of the input fits its selectors, so that the operator gets no permission from it"
		n.Advice = "write the rules into the ClusterRole itself, or add the ClusterRoles that it aggregates to the input"
	} else {
		n.Reason = fmt.Sprintf("aggregates ClusterRoles; the rules that it has by the input, of %s, are written into the CSV", strings.Join(names, ", "))
		n.Advice = "rules that a cluster would add later do not reach the operator"
	}
	if !slices.Contains(c.notes, n) {
		c.note(n)
	}
	return rules
}

func aggregates(rule *rbacv1.AggregationRule, set map[string]string) bool {
	for i := range rule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&rule.ClusterRoleSelectors[i])
		if err == nil && selector.Matches(labels.Set(set)) {
			return true
		}
	}
	return false
}

func equalRule(a, b rbacv1.PolicyRule) bool {
	return slices.Equal(a.Verbs, b.Verbs) && slices.Equal(a.APIGroups, b.APIGroups) && slices.Equal(a.Resources, b.Resources) &&
		slices.Equal(a.ResourceNames, b.ResourceNames) && slices.Equal(a.NonResourceURLs, b.NonResourceURLs)
}

// isDefaultRole reports whether Kubernetes creates a role in every cluster.
func isDefaultRole(ref rbacv1.RoleRef) bool {
	if ref.Kind == kindRole {
		return ref.Name == "extension-apiserver-authentication-reader" || strings.HasPrefix(ref.Name, "system:")
	}
	return strings.HasPrefix(ref.Name, "system:") || slices.Contains([]string{"cluster-admin", "admin", "edit", "view"}, ref.Name)
}

// MissingRolesError reports bindings of the operator's accounts to roles that the input lacks.
type MissingRolesError struct{ problems manifest.Problems }

func (e *MissingRolesError) Error() string { return e.problems.Error() }

// Unwrap returns the problems.
func (e *MissingRolesError) Unwrap() error { return e.problems }

// noteForeignRole says that a binding of the operator's account goes into the bundle as it is.
func (c *collection) noteForeignRole(binding manifest.Object, ref rbacv1.RoleRef) {
	c.note(Note{
		Position: binding.Position, Subject: binding.String(),
		Reason: fmt.Sprintf("gives the operator's account the %s %s, which is not in the input; the binding is written as a manifest of its own", ref.Kind, ref.Name),
		Advice: "make sure that its subject names no namespace that is not there at installation",
	})
}
