package bundle

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// removeSelfManaged removes what managers need to issue the certificate of their webhook server, as OLM issues it: the variables that
// turn this on, the Secret, its permissions, and the labels that select the objects for the CA.
func (w *webhooks) removeSelfManaged() {
	secrets := map[string]bool{}
	for i := range w.deployments {
		d := &w.deployments[i]
		if !w.backends[d.Name()] {
			continue
		}
		containers := d.value.Spec.Template.Spec.Containers
		for j := range containers {
			if name := removeIssuer(&containers[j]); name != "" {
				secrets[name] = true
				w.noteIssuer(d, name)
			}
		}
	}
	if len(secrets) == 0 {
		return
	}
	roles := map[string]bool{}
	w.roles = slices.DeleteFunc(w.roles, func(r decoded[rbacv1.Role]) bool {
		roles[r.Name()] = roles[r.Name()] || isForSecrets(r.value.Rules, secrets)
		return roles[r.Name()]
	})
	w.clusterRoles = slices.DeleteFunc(w.clusterRoles, func(r decoded[rbacv1.ClusterRole]) bool { return roles[r.Name()] })
	w.roleBindings = slices.DeleteFunc(w.roleBindings, func(b decoded[rbacv1.RoleBinding]) bool {
		return b.value.RoleRef.Kind == kindRole && roles[b.value.RoleRef.Name]
	})
	w.clusterRoleBindings = slices.DeleteFunc(w.clusterRoleBindings, func(b decoded[rbacv1.ClusterRoleBinding]) bool {
		return roles[b.value.RoleRef.Name]
	})
	w.others = slices.DeleteFunc(w.others, func(o manifest.Object) bool {
		return o.Group() == "" && o.Kind() == kindSecret && secrets[o.Name()] && o.Fields["data"] == nil && o.Fields["stringData"] == nil
	})
	for i := range w.crds {
		delete(w.crds[i].value.Labels, manifest.InjectLabel)
	}
}

// noteIssuer notes that a manager does not issue its certificate under OLM.
func (w *webhooks) noteIssuer(d *decoded[appsv1.Deployment], secret string) {
	w.note(diag.Finding{Position: d.Position, Object: d.String(), Severity: diag.Detail,
		Problem: fmt.Sprintf("issues the certificate of its webhooks in the Secret %s; the Secret, its permissions and variables are left out", secret),
		Fix:     "no action is needed: OLM issues the certificate"})
}

// removeIssuer removes the variables of a manager that issues its certificate. It returns the name of the Secret, or "".
func removeIssuer(c *corev1.Container) string {
	at := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == manifest.IssuerSecretVar })
	if at < 0 {
		return ""
	}
	secret := c.Env[at].Value
	c.Env = slices.DeleteFunc(c.Env, func(e corev1.EnvVar) bool {
		return e.Name == manifest.IssuerSecretVar || e.Name == manifest.IssuerServiceVar || e.Name == manifest.IssuerNamespaceVar
	})
	if len(c.Env) == 0 {
		c.Env = nil
	}
	return secret
}

// isForSecrets reports whether all rules of a role are for Secrets of a set.
func isForSecrets(rules []rbacv1.PolicyRule, secrets map[string]bool) bool {
	return len(rules) > 0 && !slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		return !slices.Equal(r.Resources, []string{"secrets"}) || len(r.ResourceNames) == 0 ||
			slices.ContainsFunc(r.ResourceNames, func(name string) bool { return !secrets[name] })
	})
}
