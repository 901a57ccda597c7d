package customresource

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Empty returns an object that receives one of a kind.
func Empty(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u
}

// A Writer patches custom resources. After a conflict, the change is applied to the current object.
type Writer struct {
	Client client.Client
	// Reader is not cached.
	Reader client.Reader
}

// PatchFinalizers changes the finalizers of obj and updates obj. The error of an object that is gone is NotFound.
func (w Writer) PatchFinalizers(ctx context.Context, obj *unstructured.Unstructured, change func([]string) ([]string, error)) error {
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
		err = w.Client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, data))
		if !apierrors.IsConflict(err) {
			return err
		}
		current, currentErr := w.current(ctx, obj)
		if currentErr != nil {
			return currentErr
		}
		if current.GetUID() != uid {
			gvk := obj.GroupVersionKind()
			return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: strings.ToLower(gvk.Kind)}, obj.GetName())
		}
		*obj = *current
		return err
	})
}

// PatchStatus applies merge patches of status and updates obj. The function patch returns the content of status in the merge patch for
// the object that it is called with, or nil if nothing is to be changed. An object that is gone, or that was replaced by one of the
// same name, is no error.
func (w Writer) PatchStatus(ctx context.Context, obj *unstructured.Unstructured, patch func(*unstructured.Unstructured) map[string]any) error {
	uid := obj.GetUID()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		status := patch(obj)
		if len(status) == 0 {
			return nil
		}
		data, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": obj.GetResourceVersion()}, "status": status,
		})
		if err != nil {
			return err
		}
		err = w.Client.Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, data))
		if !apierrors.IsConflict(err) {
			return err
		}
		current, currentErr := w.current(ctx, obj)
		if currentErr != nil {
			return currentErr
		}
		if current.GetUID() != uid {
			return nil
		}
		*obj = *current
		return err
	})
	switch {
	case apierrors.IsNotFound(err):
		return w.explainMissingStatus(ctx, obj)
	case err != nil:
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}

// explainMissingStatus returns an error if obj exists, as its kind then has no status subresource.
func (w Writer) explainMissingStatus(ctx context.Context, obj *unstructured.Unstructured) error {
	_, err := w.current(ctx, obj)
	if err == nil {
		return fmt.Errorf("writing the status: %s has no status subresource; enable it in the CRD", obj.GetKind())
	}
	return client.IgnoreNotFound(err)
}

func (w Writer) current(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	current := Empty(obj.GroupVersionKind())
	return current, w.Reader.Get(ctx, client.ObjectKeyFromObject(obj), current)
}
