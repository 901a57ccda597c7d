package release

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-sdk/operon/pkg/dependents"
)

// The metadata that connect an object with its custom resource, as set by operator-sdk's helm-operator.
const (
	// ChartLabel is the label of all objects. Its value is the name of the chart.
	ChartLabel = "helm.sdk.operatorframework.io/chart"
	// OwnerAnnotation and OwnerTypeAnnotation name the custom resource, on objects that cannot have an owner reference.
	OwnerAnnotation     = dependents.OwnerAnnotation
	OwnerTypeAnnotation = dependents.OwnerTypeAnnotation

	policyAnnotation = "helm.sh/resource-policy"
	policyKeep       = "keep"
)

// An owner is the custom resource of a release.
type owner struct {
	gvk             schema.GroupVersionKind
	namespace, name string
	uid             types.UID
}

func newOwner(object *unstructured.Unstructured) owner {
	return owner{object.GroupVersionKind(), object.GetNamespace(), object.GetName(), object.GetUID()}
}

func (o owner) reference() metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion: o.gvk.GroupVersion().String(), Kind: o.gvk.Kind, Name: o.name, UID: o.uid,
		Controller: &yes, BlockOwnerDeletion: &yes,
	}
}

func (o owner) annotations() map[string]string {
	return dependents.OwnerAnnotations(o.gvk.GroupKind(), types.NamespacedName{Namespace: o.namespace, Name: o.name})
}

// canOwn reports whether an object can have an owner reference to the custom resource: not across namespaces, and a cluster-scoped object
// not to a custom resource in a namespace.
func (o owner) canOwn(namespaced bool, namespace string) bool {
	return o.namespace == "" || namespaced && namespace == o.namespace
}

// adopt sets the label and the owner of an object that is about to be applied. An owner reference would delete an object that is to be kept.
func (o owner) adopt(object *unstructured.Unstructured, namespaced bool, chart string) {
	if chart != "" {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[ChartLabel] = chart
		object.SetLabels(labels)
	}
	if o.canOwn(namespaced, object.GetNamespace()) && !isKept(object) {
		object.SetOwnerReferences([]metav1.OwnerReference{o.reference()})
		return
	}
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	for key, value := range o.annotations() {
		annotations[key] = value
	}
	object.SetAnnotations(annotations)
}

// ownsAny reports whether owner references name the custom resource, or an earlier one of its name.
func (o owner) ownsAny(references []metav1.OwnerReference) bool {
	for _, reference := range references {
		kind := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind).GroupKind()
		if reference.UID == o.uid || kind == o.gvk.GroupKind() && reference.Name == o.name {
			return true
		}
	}
	return false
}

// owns reports whether an object in the cluster belongs to the custom resource.
func (o owner) owns(object metav1.Object) bool {
	if (o.namespace == "" || object.GetNamespace() == o.namespace || object.GetNamespace() == "") && o.ownsAny(object.GetOwnerReferences()) {
		return true
	}
	annotations := object.GetAnnotations()
	for key, value := range o.annotations() {
		if annotations[key] != value {
			return false
		}
	}
	return true
}

// isForeign reports whether an object belongs to something else: it has another controller, or its annotations name another
// custom resource.
func (o owner) isForeign(object metav1.Object) bool {
	if o.owns(object) {
		return false
	}
	_, _, annotated := dependents.AnnotatedOwner(object)
	return annotated || metav1.GetControllerOf(object) != nil
}

// other returns the kind of the controller among owner references, such as "Web.example.com", if the custom resource has another kind.
func (o owner) other(references []metav1.OwnerReference) string {
	for _, reference := range references {
		if reference.Controller == nil || !*reference.Controller {
			continue
		}
		kind := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind).GroupKind()
		if kind != o.gvk.GroupKind() {
			return kind.String()
		}
	}
	return ""
}

func isKept(object metav1.Object) bool {
	return object.GetAnnotations()[policyAnnotation] == policyKeep
}
