package dependents

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// The annotations of objects that cannot have an owner reference, because they are cluster-scoped or in another namespace. operator-sdk's
// runtimes use them, too.
const (
	// OwnerAnnotation is "NAMESPACE/NAME" of the custom resource.
	OwnerAnnotation = "operator-sdk/primary-resource"
	// OwnerTypeAnnotation is "KIND.GROUP" of the custom resource.
	OwnerTypeAnnotation = "operator-sdk/primary-resource-type"
)

// OwnerAnnotations returns the annotations of objects that belong to a custom resource.
func OwnerAnnotations(kind schema.GroupKind, key types.NamespacedName) map[string]string {
	return map[string]string{OwnerAnnotation: key.Namespace + "/" + key.Name, OwnerTypeAnnotation: kind.String()}
}

// AnnotatedOwner returns the custom resource that the annotations of an object name.
func AnnotatedOwner(obj metav1.Object) (kind schema.GroupKind, key types.NamespacedName, ok bool) {
	annotations := obj.GetAnnotations()
	primary, kindText := annotations[OwnerAnnotation], annotations[OwnerTypeAnnotation]
	namespace, name, found := strings.Cut(primary, "/")
	if !found {
		namespace, name = "", primary
	}
	kind = schema.ParseGroupKind(kindText)
	return kind, types.NamespacedName{Namespace: namespace, Name: name}, name != "" && kind.Kind != ""
}
