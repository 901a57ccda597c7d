package ansibleoperator

import (
	"context"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
	"github.com/operon-sdk/operon/pkg/customresource"
)

// removeFailed removes the artifacts of failed runs that former operators have left behind and whose custom resources no longer exist, or
// are not reconciled any more. It returns when the custom resources are known.
func (e *engine) removeFailed(ctx context.Context, resources cache.Cache, namespaces []string, reconcilers []*Reconciler) error {
	var group sync.WaitGroup
	for _, run := range e.runner.FailedRuns() {
		group.Go(func() { // a kind without a CRD doesn't delay the others
			if e.isGone(ctx, resources, namespaces, reconcilers, run) {
				e.remove(ctx, run.GroupVersionKind(), run.Key())
			}
		})
	}
	group.Wait()
	return nil
}

func (e *engine) isGone(ctx context.Context, resources cache.Cache, namespaces []string, reconcilers []*Reconciler, run runner.FailedRun) bool {
	gvk := run.GroupVersionKind()
	reconciled := slices.ContainsFunc(reconcilers, func(r *Reconciler) bool { return r.kind.GVK == gvk })
	if !reconciled || run.Namespace != "" && len(namespaces) > 0 && !slices.Contains(namespaces, run.Namespace) {
		return true
	}
	// It waits until the custom resources are listed. Without a CRD there are none, but it may not be served yet.
	err := resources.Get(ctx, run.Key(), customresource.Empty(gvk))
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		e.log.Info("cannot find out whether the resource of a failed run exists; its artifacts are kept", "kind", gvk.Kind,
			"namespace", run.Namespace, "name", run.Name, "error", err.Error())
	}
	return apierrors.IsNotFound(err)
}
