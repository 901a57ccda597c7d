package helmoperator

import (
	"context"
	"errors"
	"fmt"

	"helm.sh/helm/v4/pkg/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// externalObjects is the key in status.deployedRelease with the objects of the release that the garbage collector does not delete
// with the custom resource, if that is in a namespace: cluster-scoped ones and objects in other namespaces. If a namespace is deleted, the records of its releases
// may be gone before the finalizer runs.
const externalObjects = "externalObjects"

// describeExternal returns the content of externalObjects.
func describeExternal(obj *unstructured.Unstructured, objects []release.Object) []any {
	var external []any
	for _, object := range objects {
		if object.Keep || object.Name == "" || obj.GetNamespace() == "" || object.Namespaced && object.Namespace == obj.GetNamespace() {
			continue
		}
		apiVersion, kind := object.ToAPIVersionAndKind()
		described := map[string]any{"apiVersion": apiVersion, "kind": kind, "name": object.Name}
		if object.Namespaced {
			described["namespace"] = object.Namespace
		}
		external = append(external, described)
	}
	return external
}

// deleteExternal deletes the external objects of a release that no longer has records, if they still belong to obj. It returns the objects
// that still exist. The status names them because the chart, which may be missing or render other objects by now, cannot.
func (r *Reconciler) deleteExternal(ctx context.Context, obj *unstructured.Unstructured) ([]release.Object, error) {
	external, _, _ := unstructured.NestedSlice(obj.Object, "status", statusDeployedRelease, externalObjects)
	var remaining []release.Object
	var errs []error
	for _, described := range external {
		m, _ := described.(map[string]any)
		u := &unstructured.Unstructured{Object: m}
		namespace, _, _ := unstructured.NestedString(m, "namespace")
		name, _, _ := unstructured.NestedString(m, "name")
		exists, err := r.deleteOwned(ctx, obj, u.GroupVersionKind(), client.ObjectKey{Namespace: namespace, Name: name})
		if err != nil {
			errs = append(errs, fmt.Errorf("deleting %s %s: %w", u.GetKind(), name, err))
		}
		if exists {
			remaining = append(remaining, release.Object{GroupVersionKind: u.GroupVersionKind(), Namespace: namespace, Name: name, Namespaced: namespace != ""})
		}
	}
	return remaining, errors.Join(errs...)
}

// deleteOwned deletes an object if it exists, belongs to obj and is not to be kept, and reports whether it exists afterwards.
func (r *Reconciler) deleteOwned(ctx context.Context, obj *unstructured.Unstructured, gvk schema.GroupVersionKind, key client.ObjectKey) (bool, error) {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(gvk)
	isGone := func(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) }
	if err := r.kind.Reader.Get(ctx, key, live); err != nil {
		if isGone(err) {
			err = nil
		}
		return false, err
	}
	// The annotations of an object that another custom resource has taken over name that one.
	if owner, ok := r.ownerOf(live); !ok || owner != client.ObjectKeyFromObject(obj) || live.GetAnnotations()[kube.ResourcePolicyAnno] == kube.KeepPolicy {
		return false, nil
	}
	if live.GetDeletionTimestamp() == nil {
		uid := live.GetUID()
		if err := r.kind.Client.Delete(ctx, live, client.Preconditions{UID: &uid}, client.PropagationPolicy("Background")); err != nil {
			return false, client.IgnoreNotFound(err)
		}
	}
	err := r.kind.Reader.Get(ctx, key, live)
	if isGone(err) {
		return false, nil
	}
	return true, err
}
