package release

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var crdGroupVersion = schema.GroupVersion{Group: crdKind.Group, Version: "v1"}

// A crdObserver observes CRDs by reading them through another connection, as if a watch had received them.
type crdObserver struct {
	e     crdEnv
	known bool
}

func (o *crdObserver) Observe(gvk schema.GroupVersionKind, key types.NamespacedName) (*metav1.ObjectMeta, bool) {
	if !o.known || !isCRD(gvk) {
		return nil, false
	}
	watching := *o.e.env
	watching.connect()
	live := watching.find("apiextensions.k8s.io/v1 CustomResourceDefinition " + key.Name)
	if live == nil {
		return nil, true
	}
	return &metav1.ObjectMeta{
		Name: live.GetName(), UID: live.GetUID(), Generation: live.GetGeneration(), ResourceVersion: live.GetResourceVersion(),
		Labels: live.GetLabels(), Annotations: live.GetAnnotations(), DeletionTimestamp: live.GetDeletionTimestamp(),
		OwnerReferences: live.GetOwnerReferences(),
	}, true
}
