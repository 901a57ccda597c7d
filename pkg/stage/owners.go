package stage

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
)

// UseOwners records that the operator has used the permission to set the finalizers of an object's owners. OpenShift, and any cluster with
// the admission plugin OwnerReferencesPermissionEnforcement, asks for it if a reference blocks the deletion of the owner. The control plane
// here doesn't. custom are the resources of custom kinds.
func (g *Grants) UseOwners(o *kube.Object, custom map[schema.GroupKind]kube.Resource) {
	for _, owner := range o.GetOwnerReferences() {
		if owner.BlockOwnerDeletion == nil || !*owner.BlockOwnerDeletion {
			continue
		}
		gvk := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)
		r := gateway.Request{Verb: "update", Group: gvk.Group, Subresource: "finalizers", Namespace: o.GetNamespace(), Name: owner.Name}
		if resource, found := custom[gvk.GroupKind()]; !found {
			guess, _ := meta.UnsafeGuessKindToResource(gvk) // right for the kinds of Kubernetes that own others
			r.Resource = guess.Resource
		} else if r.Resource = resource.Name; !resource.Namespaced {
			r.Namespace = ""
		}
		g.use(r)
	}
}
