package customresource

import (
	"context"
	"encoding/json"
	"errors"
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

// ErrDeleted reports that a custom resource was deleted in the meantime.
var ErrDeleted = errors.New("the custom resource was deleted")

// addFinalizer adds a finalizer to obj, unless obj has one that isOwn accepts, and sets an annotation to what value returns for the
// current value and whether the finalizer is added. It updates obj. The error is ErrDeleted if obj is being deleted.
func (w Writer) addFinalizer(ctx context.Context, obj *unstructured.Unstructured, name string, isOwn func(string) bool, annotation string, value func(string, bool) string) error {
	err := w.patchMetadata(ctx, obj, func() (object, error) {
		if obj.GetDeletionTimestamp() != nil {
			return nil, ErrDeleted
		}
		metadata := object{}
		finalizers := obj.GetFinalizers()
		adds := !slices.ContainsFunc(finalizers, isOwn)
		if adds {
			metadata["finalizers"] = append(slices.Clone(finalizers), name)
		}
		before := obj.GetAnnotations()[annotation]
		if after := value(before, adds); after != before {
			metadata["annotations"] = object{annotation: after}
		}
		return metadata, nil
	})
	if err != nil {
		return fmt.Errorf("adding the finalizer: %w", err)
	}
	return nil
}

// RemoveFinalizers removes the finalizers that isOwn accepts and updates obj. It is not an error if obj no longer exists.
func (w Writer) RemoveFinalizers(ctx context.Context, obj *unstructured.Unstructured, isOwn func(string) bool) error {
	err := w.patchMetadata(ctx, obj, func() (object, error) {
		finalizers := slices.DeleteFunc(slices.Clone(obj.GetFinalizers()), isOwn)
		if slices.Equal(finalizers, obj.GetFinalizers()) {
			return nil, nil
		}
		return object{"finalizers": finalizers}, nil
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	return nil
}

// patchMetadata sends the metadata that change returns in a merge patch, unless it is empty. It returns NotFound for an object that no
// longer exists.
func (w Writer) patchMetadata(ctx context.Context, obj *unstructured.Unstructured, change func() (object, error)) error {
	gvk := obj.GroupVersionKind()
	gone := apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: strings.ToLower(gvk.Kind)}, obj.GetName())
	send := func(p client.Patch) error { return w.Client.Patch(ctx, obj, p) }
	return w.patch(ctx, obj, gone, send, func() (object, error) {
		metadata, err := change()
		if err != nil || len(metadata) == 0 {
			return nil, err
		}
		return object{"metadata": metadata}, nil
	})
}

// PatchStatus applies merge patches of status and updates obj. The function patch returns the content of status in the merge patch
// for the object that it is called with, or nil if nothing is to be changed. It is not an error if the object no longer exists, or
// if another one has its name.
func (w Writer) PatchStatus(ctx context.Context, obj *unstructured.Unstructured, patch func(*unstructured.Unstructured) map[string]any) error {
	send := func(p client.Patch) error { return w.Client.Status().Patch(ctx, obj, p) }
	err := w.patch(ctx, obj, nil, send, func() (object, error) {
		status := patch(obj)
		if len(status) == 0 {
			return nil, nil
		}
		return object{"metadata": object{}, "status": status}, nil
	})
	switch {
	case apierrors.IsNotFound(err):
		return w.explainMissingStatus(ctx, obj)
	case err != nil:
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}

type object = map[string]any

// patch sends the merge patch that build returns for obj, with metadata, and updates obj. After a conflict, it does so for the
// current object, or returns replaced if that is another one of the same name.
func (w Writer) patch(ctx context.Context, obj *unstructured.Unstructured, replaced error, send func(client.Patch) error, build func() (object, error)) error {
	uid := obj.GetUID()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		patch, err := build()
		if err != nil || patch == nil {
			return err
		}
		patch["metadata"].(object)["resourceVersion"] = obj.GetResourceVersion()
		data, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		err = send(client.RawPatch(types.MergePatchType, data))
		if !apierrors.IsConflict(err) {
			return err
		}
		current, currentErr := w.current(ctx, obj)
		if currentErr != nil {
			return currentErr
		}
		if current.GetUID() != uid {
			return replaced
		}
		*obj = *current
		return err
	})
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
