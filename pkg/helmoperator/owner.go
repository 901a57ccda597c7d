package helmoperator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-sdk/operon/pkg/dependents"
)

// ownerOf returns the name of the custom resource that an object belongs to, by its controller reference or its annotations.
func (r *Reconciler) ownerOf(obj metav1.Object) (types.NamespacedName, bool) {
	kind := r.kind.GVK.GroupKind()
	if ref := metav1.GetControllerOf(obj); ref != nil {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err == nil && gv.Group == kind.Group && ref.Kind == kind.Kind {
			key := types.NamespacedName{Namespace: obj.GetNamespace(), Name: ref.Name}
			if r.kind.Target.IsSet() { // the kind is cluster-scoped
				key.Namespace = ""
			}
			return key, true
		}
	}
	named, key, ok := dependents.AnnotatedOwner(obj)
	if !ok || named != kind {
		return types.NamespacedName{}, false
	}
	return key, true
}
