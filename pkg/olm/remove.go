package olm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// removeAll removes all objects of a resource.
func (r *removal) removeAll(ctx context.Context, resource kube.Resource, grace time.Duration) error {
	objects, err := r.Client.ListNames(ctx, resource, "", nil)
	if err != nil {
		return err
	}
	return r.remove(ctx, objects, grace)
}

// remove deletes objects and waits for their deletion. After grace, it removes the finalizers of the remaining ones, and again
// after each further grace: a controller or Kubernetes can mark a definition's resources for deletion only afterwards.
func (r *removal) remove(ctx context.Context, objects []*kube.Object, grace time.Duration) error {
	var left []*kube.Object
	for _, o := range objects {
		live, err := r.Client.Get(ctx, o)
		if err != nil {
			return err
		}
		if live == nil {
			continue
		}
		if err := kube.Retry(ctx, func() error { return r.Client.Delete(ctx, o, o.GetNamespace()) }); err != nil {
			return fmt.Errorf("deleting %s: %w", kube.FullName(o), err)
		}
		left = append(left, o)
	}
	due := time.After(grace)
	for {
		remaining, err := r.remainingOf(ctx, left)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err == nil {
			left = remaining
		}
		if len(left) == 0 {
			return nil
		}
		select {
		case <-due:
			if ctx.Err() == nil {
				if err := r.dropFinalizers(ctx, left); err != nil {
					return err
				}
				due = time.After(max(grace, time.Second))
				continue
			}
		default:
		}
		r.Waitf("waiting for the deletion of %s", kube.FullName(left[0]))
		if !kube.Pause(ctx) {
			return r.notDeletedError(ctx, left)
		}
	}
}

// remainingOf returns the objects that still exist, and reports those that do not.
func (r *removal) remainingOf(ctx context.Context, objects []*kube.Object) ([]*kube.Object, error) {
	var left []*kube.Object
	for _, o := range objects {
		live, err := r.Client.Get(ctx, o)
		if err != nil {
			return nil, err
		}
		if live == nil || live.GetDeletionTimestamp() == nil && live.GetUID() != o.GetUID() && o.GetUID() != "" {
			r.Reportf("deleted %s", kube.FullName(o))
			continue
		}
		left = append(left, o)
	}
	return left, nil
}

// dropFinalizers removes the finalizers of objects that are being deleted, and of the resources of definitions.
func (r *removal) dropFinalizers(ctx context.Context, objects []*kube.Object) error {
	for _, o := range objects {
		live, err := r.Client.Get(ctx, o)
		if err != nil {
			return err
		}
		// Finalizers of Kubernetes do necessary work, and end.
		if live == nil || len(live.GetFinalizers()) == 0 || live.GetKind() == "Namespace" {
			continue
		}
		if live.GetKind() == kube.CRDKind {
			if err := r.freeDefinition(ctx, live); err != nil {
				return err
			}
			continue
		}
		r.Reportf("removing the finalizer %s of %s, which its controller does not remove", strings.Join(live.GetFinalizers(), ", "), kube.FullName(o))
		if err := r.Client.DropFinalizers(ctx, live); err != nil {
			return fmt.Errorf("removing the finalizers of %s: %w", kube.FullName(o), err)
		}
	}
	return nil
}
