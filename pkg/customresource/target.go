package customresource

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Target is the namespace of what an operator creates for cluster-scoped resources. The zero value is none.
type Target struct {
	// Name is the namespace. Otherwise, From is the path in the resource of its name, such as spec.targetNamespace.
	Name, From string
	// Annotation is the annotation of a resource with its namespace, once something may exist in it.
	Annotation string
}

// SetTarget sets the target namespace: a name, or the path of one.
func (k *Kind) SetTarget(name, from string) error {
	switch {
	case name != "" && from != "":
		return errors.New("target namespace: a name and the path of one exclude each other")
	case name != "" && len(validation.IsDNS1123Label(name)) > 0:
		return fmt.Errorf("target namespace %q: not the name of a namespace", name)
	}
	k.Target.Name, k.Target.From = name, from
	return nil
}

// IsSet reports whether there is a target, so that the kind must be cluster-scoped.
func (t Target) IsSet() bool { return t.Name != "" || t.From != "" }

// TargetNamespace returns the namespace of what belongs to obj: its own one if it has one, or the target. The error says so if that is
// another one than before, as what exists can't be moved.
func (k *Kind) TargetNamespace(obj *unstructured.Unstructured) (string, error) {
	t, own := k.Target, obj.GetNamespace()
	switch {
	case own == "" && !t.IsSet():
		return "", errors.New("the resource is cluster-scoped: set targetNamespace or targetNamespaceFrom in watches.yaml, or make the kind namespaced")
	case own == "":
	case t.IsSet():
		return "", errors.New("targetNamespace and targetNamespaceFrom in watches.yaml are for cluster-scoped kinds; users of this one could write to the namespaces of others")
	default:
		return own, nil
	}
	namespace := t.Name
	if t.From != "" {
		value, found, err := unstructured.NestedString(obj.Object, strings.Split(t.From, ".")...)
		switch {
		case err != nil || found && value != "" && len(validation.IsDNS1123Label(value)) > 0:
			return "", fmt.Errorf("%s must be the name of a namespace", t.From)
		case value == "":
			return "", fmt.Errorf("%s, the name of a namespace, is not set", t.From)
		}
		namespace = value
	}
	if recorded := obj.GetAnnotations()[t.Annotation]; recorded != "" && recorded != namespace {
		return "", fmt.Errorf("what belongs to the resource is in the namespace %q and can't be moved to %q; undo the change, or create another resource", recorded, namespace)
	}
	return namespace, nil
}

// RecordTarget records the target namespace of a cluster-scoped resource in its annotation, before something is created in it. It updates
// obj. The namespace must exist: otherwise, a mistake in its name couldn't be corrected.
func (k *Kind) RecordTarget(ctx context.Context, obj *unstructured.Unstructured, namespace string) error {
	if obj.GetNamespace() != "" || obj.GetAnnotations()[k.Target.Annotation] == namespace {
		return nil
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := k.Reader.Get(ctx, client.ObjectKey{Name: namespace}, live); apierrors.IsNotFound(err) {
		return fmt.Errorf("the namespace %q does not exist; create it, or correct the name", namespace)
	} else if err != nil && !apierrors.IsForbidden(err) { // without the permission, the operation finds out
		return fmt.Errorf("reading the namespace %q: %w", namespace, err)
	}
	err := k.patchMetadata(ctx, obj, func() (object, error) {
		if obj.GetDeletionTimestamp() != nil {
			return nil, ErrDeleted
		}
		return object{"annotations": object{k.Target.Annotation: namespace}}, nil
	})
	if err != nil {
		return fmt.Errorf("recording the target namespace: %w", err)
	}
	return nil
}

// RecordedNamespace returns the namespace of what belongs to obj, whatever its target is now, or "" if there can't be anything.
func (k *Kind) RecordedNamespace(obj *unstructured.Unstructured) string {
	if own := obj.GetNamespace(); own != "" {
		return own
	}
	return obj.GetAnnotations()[k.Target.Annotation]
}
