package helmoperator

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	err := r.writer().PatchFinalizers(ctx, obj, func(current []string) ([]string, error) {
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
	err := r.writer().PatchFinalizers(ctx, obj, func(current []string) ([]string, error) {
		return slices.DeleteFunc(slices.Clone(current), isFinalizer), nil
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	return nil
}
