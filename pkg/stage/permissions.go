package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/operon-sdk/operon/pkg/kube"
)

// Permissions are the service account of an operator and what grants it its permissions.
type Permissions struct {
	// Namespace and ServiceAccount are those of the manager's Deployment.
	Namespace, ServiceAccount string
	// deployed is the namespace of the Deployment in the manifests.
	deployed string
	// objects are namespaces, the service account, roles and bindings.
	objects []*kube.Object
}

// ManagerOf returns the Deployment of the manager, or the StatefulSet, or nil: the first with a container of that name, or else the first.
func ManagerOf(manifests []*kube.Object) (manager *kube.Object) {
	for _, o := range manifests {
		if o.GetKind() != "Deployment" && o.GetKind() != "StatefulSet" {
			continue
		}
		if slices.ContainsFunc(kube.ListAt(o.Object, "spec", "template", "spec", "containers"), func(c any) bool { return kube.StringAt(c, "name") == "manager" }) {
			return o
		}
		if manager == nil {
			manager = o
		}
	}
	return manager
}

// PermissionsOf finds permissions in the manifests of an operator, as 'kustomize build config/default' writes them. namespace, unless it
// is empty, replaces the operator's, so that the roles of an operator that watches its own namespace are for that one.
func PermissionsOf(manifests []*kube.Object, namespace string) (*Permissions, error) {
	deployment := ManagerOf(manifests)
	if deployment == nil {
		return nil, errors.New("the manifests have no Deployment, whose service account has the permissions of the manager")
	}
	from := deployment.GetNamespace()
	p := &Permissions{
		Namespace:      cmp.Or(namespace, from, "default"),
		ServiceAccount: cmp.Or(kube.StringAt(deployment.Object, "spec", "template", "spec", "serviceAccountName"), "default"),
		deployed:       cmp.Or(from, "default"),
	}
	p.objects = append(p.objects, kube.Named("v1", "Namespace", "", p.Namespace), kube.Named("v1", "ServiceAccount", p.Namespace, p.ServiceAccount))
	for _, o := range manifests {
		switch o.GetKind() {
		case "Role", "ClusterRole":
		case "RoleBinding", "ClusterRoleBinding":
			o = o.DeepCopy()
			for _, subject := range kube.ListAt(o.Object, "subjects") {
				if fields, ok := subject.(map[string]any); ok && kube.StringAt(fields, "kind") == "ServiceAccount" && kube.StringAt(fields, "namespace") == from {
					fields["namespace"] = p.Namespace
				}
			}
		default:
			continue
		}
		if o.GetNamespace() == from && from != "" {
			o = o.DeepCopy()
			o.SetNamespace(p.Namespace)
		}
		namespaces := []*kube.Object{kube.Named("v1", "Namespace", "", o.GetNamespace())}
		if o.GetNamespace() == "" || slices.ContainsFunc(p.objects, func(known *kube.Object) bool { return kube.FullName(known) == kube.FullName(namespaces[0]) }) {
			namespaces = nil
		}
		p.objects = slices.Concat(p.objects, namespaces, []*kube.Object{o})
	}
	return p, nil
}

// Granted reports whether a binding of a role names the service account, or its group.
func (p *Permissions) Granted() bool {
	return slices.ContainsFunc(p.objects, func(o *kube.Object) bool {
		return slices.ContainsFunc(kube.ListAt(o.Object, "subjects"), p.isSubject)
	})
}

// apply applies the permissions. It removes what only former has, which may be nil.
func (p *Permissions) apply(ctx context.Context, client *kube.Client, former *Permissions) error {
	for _, o := range p.objects {
		if err := client.Apply(ctx, o, p.Namespace); err != nil {
			return fmt.Errorf("applying %s: %w", kube.Name(o), err)
		}
	}
	if former == nil {
		return nil
	}
	for _, old := range former.objects {
		switch {
		case old.GetKind() == "Namespace" || old.GetKind() == "ServiceAccount":
		case slices.ContainsFunc(p.objects, func(o *kube.Object) bool { return kube.FullName(o) == kube.FullName(old) }):
		default:
			if err := client.Delete(ctx, old, former.Namespace); err != nil && !kube.IsNotFound(err) {
				return fmt.Errorf("removing %s: %w", kube.Name(old), err)
			}
		}
	}
	return nil
}

// tokenSeconds is the life of a token: no run is longer.
const tokenSeconds = 365 * 24 * 60 * 60

// token returns a token of the service account.
func (p *Permissions) token(ctx context.Context, client *kube.Client) (string, error) {
	path := fmt.Sprintf("/api/v1/namespaces/%s/serviceaccounts/%s/token", p.Namespace, p.ServiceAccount)
	request := map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": map[string]any{"expirationSeconds": tokenSeconds},
	}
	var answer struct{ Status struct{ Token string } }
	if err := client.Do(ctx, http.MethodPost, path, "", request, &answer); err != nil {
		return "", fmt.Errorf("requesting a token of the service account %s/%s: %w", p.Namespace, p.ServiceAccount, err)
	}
	return answer.Status.Token, nil
}
