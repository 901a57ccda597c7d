package helmoperator

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// readinessDelay combines the many changes of status of a rollout, and the objects of a list, to few passes.
const readinessDelay = 2 * time.Second

// watchedKinds are the kinds of dependents that a reconciler has a handler for.
type watchedKinds struct {
	mu    sync.Mutex
	kinds map[schema.GroupVersionKind]bool
	// ctx and queue are those of the controller; nil before it starts.
	ctx   context.Context //nolint:containedctx // The watches outlive the pass that adds them.
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func (w *watchedKinds) start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ctx, w.queue, w.kinds = ctx, queue, map[schema.GroupVersionKind]bool{}
}

// watchDependents watches the kinds of the objects of a release. A kind that cannot be watched does not prevent the others; its drift
// is repaired at the reconcile period.
func (r *Reconciler) watchDependents(ctx context.Context, objects []release.Object) {
	if r.skipDependents {
		return
	}
	r.watched.mu.Lock()
	defer r.watched.mu.Unlock()
	if r.watched.queue == nil {
		return
	}
	for _, object := range objects {
		gvk := object.GroupVersionKind
		if r.watched.kinds[gvk] {
			continue
		}
		if err := r.dependents.watch(r.watched.ctx, gvk, r.dependentHandler(r.watched.queue)); err != nil {
			log.FromContext(ctx).Error(err, "cannot watch objects of the release")
			continue
		}
		r.watched.kinds[gvk] = true
	}
}

// dependentHandler returns the handler of changes of objects of releases. Creations are ignored, as the reconciler creates the
// objects. Objects that exist when the watch starts may have changed since they were applied.
func (r *Reconciler) dependentHandler(queue workqueue.TypedRateLimitingInterface[reconcile.Request]) toolscache.ResourceEventHandler {
	changed := func(obj *metav1.PartialObjectMetadata) {
		if key, ok := ownerOf(obj, r.gvk.GroupKind()); ok && r.tracker.requireFull(key) {
			queue.Add(reconcile.Request{NamespacedName: key})
		}
	}
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			m, ok := obj.(*metav1.PartialObjectMetadata)
			if !ok || !isInInitialList {
				return
			}
			if key, ok := ownerOf(m, r.gvk.GroupKind()); ok && r.tracker.requireFull(key) {
				queue.AddAfter(reconcile.Request{NamespacedName: key}, readinessDelay)
			}
		},
		UpdateFunc: func(oldObj, newObj any) {
			before, ok := oldObj.(*metav1.PartialObjectMetadata)
			after, isMetadata := newObj.(*metav1.PartialObjectMetadata)
			if !ok || !isMetadata || before.ResourceVersion == after.ResourceVersion {
				return
			}
			if !isSpecChange(before, after) {
				r.requestReadiness(queue, after)
				return
			}
			changed(after)
			if owner, ok := ownerOf(before, r.gvk.GroupKind()); ok {
				if now, _ := ownerOf(after, r.gvk.GroupKind()); now != owner {
					changed(before)
				}
			}
		},
		DeleteFunc: func(obj any) {
			if unknown, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = unknown.Obj
			}
			if m, ok := obj.(*metav1.PartialObjectMetadata); ok {
				changed(m)
			}
		},
	}
}

// requestReadiness adds a pass that reads whether the objects of a release are ready, after the status of one has changed.
func (r *Reconciler) requestReadiness(queue workqueue.TypedRateLimitingInterface[reconcile.Request], obj *metav1.PartialObjectMetadata) {
	key, ok := ownerOf(obj, r.gvk.GroupKind())
	if ok && !isStateless(obj.GroupVersionKind().GroupKind()) && r.tracker.requestReadiness(key) {
		queue.AddAfter(reconcile.Request{NamespacedName: key}, readinessDelay)
	}
}
