package helmoperator

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/dependents"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// readinessDelay combines the many changes of status of a rollout, and the objects of a list, to few passes.
const readinessDelay = 2 * time.Second

// watchedKinds are the kinds of dependents that a reconciler has a handler for.
type watchedKinds struct {
	mu    sync.Mutex
	kinds map[schema.GroupVersionKind]bool
	// queue is the controller's; nil before it starts.
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func (w *watchedKinds) start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue, w.kinds = queue, map[schema.GroupVersionKind]bool{}
}

// started returns the queue of the controller, or nil before it starts.
func (w *watchedKinds) started() customresource.Queue {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue
}

// watchDependents watches the kinds of the objects of a release. The drift of a kind that cannot be watched is repaired at the reconcile
// period.
func (r *Reconciler) watchDependents(objects []release.Object) {
	if r.skipDependents {
		return
	}
	r.watched.mu.Lock()
	defer r.watched.mu.Unlock()
	if r.watched.queue == nil {
		return
	}
	for _, object := range objects {
		if gvk := object.GroupVersionKind; !r.watched.kinds[gvk] {
			r.watched.kinds[gvk] = true
			r.dependents.Watch(gvk, r.dependentHandler(r.watched.queue))
		}
	}
}

// dependentHandler returns the handler of changes of objects of releases. Creations are ignored, as the reconciler creates the
// objects. Objects that exist when the watch starts may have changed since they were applied.
func (r *Reconciler) dependentHandler(queue workqueue.TypedRateLimitingInterface[reconcile.Request]) dependents.Handler {
	changed := func(obj *metav1.PartialObjectMetadata) {
		if key, ok := r.ownerOf(obj); ok && r.tracker.requireFull(key) {
			queue.Add(reconcile.Request{NamespacedName: key})
		}
	}
	return dependents.Handler{
		Added: func(obj *metav1.PartialObjectMetadata, initial bool) {
			if key, ok := r.ownerOf(obj); ok && initial && r.tracker.requireFull(key) {
				queue.AddAfter(reconcile.Request{NamespacedName: key}, readinessDelay)
			}
		},
		Updated: func(before, after *metav1.PartialObjectMetadata) {
			if !dependents.IsSpecChange(before, after) {
				r.requestReadiness(queue, after)
				return
			}
			changed(after)
			if owner, ok := r.ownerOf(before); ok {
				if now, _ := r.ownerOf(after); now != owner {
					changed(before)
				}
			}
		},
		Deleted: changed,
	}
}

// requestReadiness adds a pass that reads whether the objects of a release are ready, after the status of one has changed.
func (r *Reconciler) requestReadiness(queue workqueue.TypedRateLimitingInterface[reconcile.Request], obj *metav1.PartialObjectMetadata) {
	key, ok := r.ownerOf(obj)
	if ok && !isStateless(obj.GroupVersionKind().GroupKind()) && r.tracker.requestReadiness(key) {
		queue.AddAfter(reconcile.Request{NamespacedName: key}, readinessDelay)
	}
}
