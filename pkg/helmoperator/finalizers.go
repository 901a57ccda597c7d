package helmoperator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// isFinalizer reports whether a finalizer is one of this package.
func isFinalizer(name string) bool { return name == Finalizer || name == LegacyFinalizer }

// hasFinalizer reports whether obj is protected until its release is uninstalled.
func hasFinalizer(obj *unstructured.Unstructured) bool {
	return slices.ContainsFunc(obj.GetFinalizers(), isFinalizer)
}

// addFinalizer protects obj. It returns an error if obj was deleted in the meantime.
func (r *Reconciler) addFinalizer(ctx context.Context, obj *unstructured.Unstructured) error {
	err := r.patchFinalizers(ctx, obj, func(current []string) ([]string, error) {
		if obj.GetDeletionTimestamp() != nil {
			return nil, fmt.Errorf("%s %s was deleted", obj.GetKind(), obj.GetName())
		}
		if slices.ContainsFunc(current, isFinalizer) {
			return current, nil
		}
		return append(slices.Clone(current), Finalizer), nil
	})
	if err != nil {
		return fmt.Errorf("adding the finalizer: %w", err)
	}
	return nil
}

// removeFinalizers releases obj. An object that is gone is no error.
func (r *Reconciler) removeFinalizers(ctx context.Context, obj *unstructured.Unstructured) error {
	err := r.patchFinalizers(ctx, obj, func(current []string) ([]string, error) {
		return slices.DeleteFunc(slices.Clone(current), isFinalizer), nil
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	return nil
}

// patchFinalizers changes the finalizers of obj and updates obj. After a conflict, the change is applied to the current object.
func (r *Reconciler) patchFinalizers(ctx context.Context, obj *unstructured.Unstructured, change func([]string) ([]string, error)) error {
	uid := obj.GetUID()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		finalizers, err := change(obj.GetFinalizers())
		if err != nil || slices.Equal(finalizers, obj.GetFinalizers()) {
			return err
		}
		data, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"resourceVersion": obj.GetResourceVersion(), "finalizers": finalizers,
		}})
		if err != nil {
			return err
		}
		err = r.client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, data))
		if !apierrors.IsConflict(err) {
			return err
		}
		current := emptyObject(r.gvk)
		if err := r.reader.Get(ctx, client.ObjectKeyFromObject(obj), current); err != nil {
			return err
		}
		if current.GetUID() != uid {
			return apierrors.NewNotFound(r.groupResource(), obj.GetName())
		}
		*obj = *current
		return err
	})
}
