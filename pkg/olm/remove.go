package olm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// all removes every object of a resource.
func (r *removal) all(ctx context.Context, resource kube.Resource, grace time.Duration) error {
	objects, err := r.Client.ListNames(ctx, resource, "", nil)
	if err != nil {
		return err
	}
	return r.remove(ctx, objects, grace)
}

// remove deletes objects and waits until they are gone. Those that are not after grace lose their
// finalizers.
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
	patience, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for dropped := false; ; {
		still, err := r.gone(ctx, left)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err == nil {
			left = still
		}
		if len(left) == 0 {
			return nil
		}
		if patience.Err() != nil && ctx.Err() == nil && !dropped {
			dropped = true
			if err := r.drop(ctx, left); err != nil {
				return err
			}
			continue
		}
		r.Waitf("waiting for %s to go", kube.FullName(left[0]))
		if !kube.Pause(ctx) {
			return r.doesNotGo(ctx, left)
		}
	}
}

// gone gives those objects that are still there, and says which are not.
func (r *removal) gone(ctx context.Context, objects []*kube.Object) ([]*kube.Object, error) {
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

// drop takes the finalizers away from objects that are being deleted, and from the resources of definitions.
func (r *removal) drop(ctx context.Context, objects []*kube.Object) error {
	for _, o := range objects {
		live, err := r.Client.Get(ctx, o)
		if err != nil {
			return err
		}
		// Kubernetes' own finalizers do work that must be done, and end.
		if live == nil || len(live.GetFinalizers()) == 0 || live.GetKind() == "Namespace" {
			continue
		}
		if live.GetKind() == kube.CRDKind {
			if err := r.freeDefinition(ctx, live); err != nil {
				return err
			}
			continue
		}
		r.Reportf("nobody removes the finalizer %s of %s; it goes without", strings.Join(live.GetFinalizers(), ", "), kube.FullName(o))
		if err := r.Client.DropFinalizers(ctx, live); err != nil {
			return fmt.Errorf("removing the finalizers of %s: %w", kube.FullName(o), err)
		}
	}
	return nil
}
