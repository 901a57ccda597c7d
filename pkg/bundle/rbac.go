package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// defaultAccount is the service account of pods that name none.
const defaultAccount = "default"

// accounts maps the service accounts that the CSV creates to the namespaces they are in; without namespaces any matches.
type accounts map[string]map[string]bool

func (c *collection) findAccounts(extra []string) accounts {
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

// has reports whether a subject of a binding is one of the accounts.
func (a accounts) has(s rbacv1.Subject) bool {
	namespaces, ok := a[s.Name]
	return ok && s.Kind == kindAccount && (s.Namespace == "" || len(namespaces) == 0 || namespaces[s.Namespace])
}

// isElsewhere reports whether a namespace is none of those that an account is in.
func (a accounts) isElsewhere(account, namespace string) bool {
	return namespace != "" && len(a[account]) > 0 && !a[account][namespace]
}

// grants collects the rules of accounts, each role once per account.
type grants struct {
	rules   map[string][]rbacv1.PolicyRule
	granted map[string]bool
}

func (g *grants) add(account, role string, rules []rbacv1.PolicyRule) {
	if g.rules == nil {
		g.rules, g.granted = map[string][]rbacv1.PolicyRule{}, map[string]bool{}
	}
	if key := account + "\x00" + role; !g.granted[key] {
		g.granted[key] = true
		g.rules[account] = append(g.rules[account], rules...)
	}
}

// permissions returns the grants as CSV permissions, sorted by account.
func (g *grants) permissions() []v1alpha1.StrategyDeploymentPermissions {
	permissions := []v1alpha1.StrategyDeploymentPermissions{}
	for _, account := range slices.Sorted(maps.Keys(g.rules)) {
		if len(g.rules[account]) > 0 {
			permissions = append(permissions, v1alpha1.StrategyDeploymentPermissions{ServiceAccountName: account, Rules: g.rules[account]})
		}
	}
	return permissions
}

// applyRBAC moves the rules bound to the CSV's accounts into the install strategy. The collection keeps what becomes a
// manifest of its own: roles without a binding to them, and bindings with other subjects. A role that is bound to one of
// the accounts is missing if it is neither in the input nor existing.
func (c *collection) applyRBAC(strategy *v1alpha1.StrategyDetailsDeployment, in Input) {
	own := c.findAccounts(in.ServiceAccounts)
	var inNamespace, inCluster grants
	bound, moved, needed := map[string]bool{}, map[string]bool{}, map[string]bool{}

	// bind removes the CSV's accounts from the subjects, and reports whether the binding can be removed.
	bind := func(g *grants, at manifest.Object, ref rbacv1.RoleRef, subjects *[]rbacv1.Subject) (gone bool) {
		if ref.APIGroup != "" && ref.APIGroup != groupRBAC {
			return false
		}
		role, ok := c.role(at, ref)
		if !ok {
			switch {
			case !slices.ContainsFunc(*subjects, own.has):
			case slices.Contains(in.ExistingRoles, ref.Name) || isDefaultRole(ref):
				c.noteForeignRole(at, ref)
			default:
				c.missingRoles = append(c.missingRoles, diag.Finding{Position: at.Position, Problem: fmt.Sprintf(
					"%s refers to the %s %s, which is not in the input, so the operator would be missing permissions; "+
						"add it to the input, or set --existing-roles %[3]s if the cluster has it", at, ref.Kind, ref.Name)})
			}
			return false
		}
		if len(*subjects) == 0 {
			c.note(diag.Finding{Position: at.Position, Object: at.String(), Severity: diag.Warning,
				Problem: "has no subjects and grants nothing; it is left out",
				Fix:     "add its subjects, or delete it"})
			return true
		}
		bound[role.id] = true
		if slices.ContainsFunc(*subjects, func(s rbacv1.Subject) bool { return own.has(s) && own.isElsewhere(s.Name, at.Namespace()) }) {
			c.noteMovedRole(role.Object, at.Namespace(), in.Marker)
		}
		*subjects = slices.DeleteFunc(*subjects, func(s rbacv1.Subject) bool {
			if !own.has(s) {
				needed[role.id] = true
				return false
			}
			g.add(s.Name, role.id, role.rules)
			moved[role.id], gone = true, true
			return true
		})
		return gone && len(*subjects) == 0
	}

	c.roleBindings = filterBindings(c.roleBindings, func(b *decoded[rbacv1.RoleBinding]) bool {
		return bind(&inNamespace, b.Object, b.value.RoleRef, &b.value.Subjects)
	})
	c.clusterRoleBindings = filterBindings(c.clusterRoleBindings, func(b *decoded[rbacv1.ClusterRoleBinding]) bool {
		return bind(&inCluster, b.Object, b.value.RoleRef, &b.value.Subjects)
	})

	c.noteUnboundRoles(bound, in.Marker)
	c.roles = slices.DeleteFunc(c.roles, func(r decoded[rbacv1.Role]) bool {
		return moved[roleID(r.Object)] && !needed[roleID(r.Object)]
	})
	c.clusterRoles = slices.DeleteFunc(c.clusterRoles, func(r decoded[rbacv1.ClusterRole]) bool {
		return moved[roleID(r.Object)] && !needed[roleID(r.Object)]
	})
	c.serviceAccounts = slices.DeleteFunc(c.serviceAccounts, func(a decoded[corev1.ServiceAccount]) bool {
		_, ok := own[a.Name()] // in any namespace: OLM creates the account in the operator's
		return ok
	})
	strategy.Permissions = inNamespace.permissions()
	strategy.ClusterPermissions = inCluster.permissions()
}

// filterBindings returns the bindings for which bind reports false, as changed by bind.
func filterBindings[T any](bindings []decoded[T], bind func(*decoded[T]) (gone bool)) []decoded[T] {
	var left []decoded[T]
	for _, b := range bindings {
		if !bind(&b) {
			left = append(left, b)
		}
	}
	return left
}

// A boundRole is a role that a binding refers to.
type boundRole struct {
	manifest.Object
	id    string
	rules []rbacv1.PolicyRule
}

func roleID(o manifest.Object) string { return o.Kind() + "/" + o.Namespace() + "/" + o.Name() }

// role returns the role that a binding refers to: a Role of the binding's namespace, or a ClusterRole.
func (c *collection) role(binding manifest.Object, ref rbacv1.RoleRef) (boundRole, bool) {
	if ref.Kind == kindRole && binding.Kind() == "RoleBinding" {
		for _, exact := range []bool{true, false} { // an empty namespace matches any
			for _, r := range c.roles {
				fits := r.Namespace() == binding.Namespace() || !exact && (r.Namespace() == "" || binding.Namespace() == "")
				if r.Name() == ref.Name && fits {
					return boundRole{r.Object, roleID(r.Object), r.value.Rules}, true
				}
			}
		}
	}
	if ref.Kind == "ClusterRole" {
		for _, r := range c.clusterRoles {
			if r.Name() == ref.Name {
				return boundRole{r.Object, roleID(r.Object), c.clusterRules(r)}, true
			}
		}
	}
	return boundRole{}, false
}

// clusterRules returns the rules of a ClusterRole. A CSV cannot hold an aggregation, so the rules of aggregated roles are
// collected from the input, sorted by role name as in a cluster.
func (c *collection) clusterRules(r decoded[rbacv1.ClusterRole]) []rbacv1.PolicyRule {
	if r.value.AggregationRule == nil {
		return r.value.Rules
	}
	var parts []decoded[rbacv1.ClusterRole]
	for _, other := range c.clusterRoles {
		if other.Name() != r.Name() && aggregates(r.value.AggregationRule, other.value.Labels) {
			parts = append(parts, other)
		}
	}
	slices.SortFunc(parts, func(a, b decoded[rbacv1.ClusterRole]) int { return strings.Compare(a.Name(), b.Name()) })
	var (
		rules []rbacv1.PolicyRule
		names []string
	)
	for _, part := range parts {
		names = append(names, part.Name())
		for _, rule := range part.value.Rules {
			if !slices.ContainsFunc(rules, func(other rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(rule, other) }) {
				rules = append(rules, rule)
			}
		}
	}
	n := diag.Finding{Position: r.Position, Object: r.String()}
	if len(parts) == 0 {
		n.Severity = diag.Warning
		n.Problem = "aggregates ClusterRoles, but its selectors match none of the input, so it grants the operator nothing"
		n.Fix = "put the rules into the ClusterRole itself, or add the ClusterRoles that it aggregates to the input"
	} else {
		n.Problem = fmt.Sprintf("aggregates ClusterRoles; the CSV contains the rules of those in the input: %s", strings.Join(names, ", "))
		n.Fix = "rules that a cluster adds later are not granted to the operator"
	}
	if !c.notes.Has(n) {
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

// isDefaultRole reports whether Kubernetes creates a role in every cluster.
func isDefaultRole(ref rbacv1.RoleRef) bool {
	if ref.Kind == kindRole {
		return ref.Name == "extension-apiserver-authentication-reader" || strings.HasPrefix(ref.Name, "system:")
	}
	return strings.HasPrefix(ref.Name, "system:") || slices.Contains([]string{"cluster-admin", "admin", "edit", "view"}, ref.Name)
}

// noteForeignRole notes that a binding of the operator's account becomes a manifest of the bundle.
func (c *collection) noteForeignRole(binding manifest.Object, ref rbacv1.RoleRef) {
	c.note(diag.Finding{
		Position: binding.Position, Object: binding.String(),
		Problem: fmt.Sprintf("grants the operator's account the %s %s, which is not in the input; the binding becomes a manifest of its own", ref.Kind, ref.Name),
		Fix:     "make sure that its subject names no namespace that is missing at installation",
	})
}
