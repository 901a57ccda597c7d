package ansibleoperator

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/customresource"
)

// A passState is what the reconciler keeps in memory of a custom resource.
type passState struct {
	uid types.UID
	// cancel ends the current run; nil if there is none.
	cancel context.CancelCauseFunc
	// finalizing is true in the run for a deleted resource.
	finalizing bool
	// failed are the failed runs of the process.
	failed failedRuns
}

// passes are the states of the custom resources of a reconciler.
type passes struct {
	mu     sync.Mutex
	states map[types.NamespacedName]*passState
	queue  customresource.Queue // nil before the controller starts
}

func (p *passes) start(_ context.Context, queue customresource.Queue) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = queue
}

// begin registers a run, which ends with the returned function or when obj is deleted.
func (p *passes) begin(ctx context.Context, obj *unstructured.Unstructured) (run context.Context, end func()) {
	run, cancel := context.WithCancelCause(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.state(obj)
	state.cancel, state.finalizing = cancel, obj.GetDeletionTimestamp() != nil
	return run, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		state.cancel = nil
		cancel(nil)
	}
}

// state returns the state of obj. The caller has locked p.
func (p *passes) state(obj *unstructured.Unstructured) *passState {
	if p.states == nil {
		p.states = map[types.NamespacedName]*passState{}
	}
	key := client.ObjectKeyFromObject(obj)
	state := p.states[key]
	if state == nil || state.uid != obj.GetUID() {
		state = &passState{uid: obj.GetUID()}
		p.states[key] = state
	}
	return state
}

// drop removes the state of a custom resource.
func (p *passes) drop(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.states, key)
}

// requeue adds a pass after a delay, also while the resource waits for another try after a failed run: what it waits for may be the change.
// The proxy leaves out the changes that runs make, and limits how often others can add passes. It reports whether it added one.
func (p *passes) requeue(key types.NamespacedName, after time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queue == nil {
		return false
	}
	p.queue.AddAfter(reconcile.Request{NamespacedName: key}, after)
	return true
}

// deleted ends the run of a custom resource that is being deleted or no longer exists.
func (p *passes) deleted(obj *unstructured.Unstructured, gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.states[client.ObjectKeyFromObject(obj)]
	if state == nil || state.cancel == nil {
		return
	}
	paused, _ := customresource.IsPaused(obj, AnnotationPaused) // the finalizer doesn't run yet, either
	if gone || obj.GetUID() != state.uid || obj.GetDeletionTimestamp() != nil && !state.finalizing && !paused {
		state.cancel(customresource.ErrDeleted)
	}
}

// handler adds passes of custom resources, and ends the runs of deleted ones.
func (r *Reconciler) handler() handler.TypedEventHandler[*unstructured.Unstructured, reconcile.Request] {
	add := func(obj *unstructured.Unstructured, queue customresource.Queue) {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
	}
	return handler.TypedFuncs[*unstructured.Unstructured, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*unstructured.Unstructured], queue customresource.Queue) {
			r.passes.deleted(e.Object, false)
			add(e.Object, queue)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*unstructured.Unstructured], queue customresource.Queue) {
			r.passes.deleted(e.ObjectNew, false)
			// Failures with the former spec or settings say nothing about these.
			queue.Forget(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e.ObjectNew)})
			add(e.ObjectNew, queue)
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*unstructured.Unstructured], queue customresource.Queue) {
			r.passes.deleted(e.Object, true)
			add(e.Object, queue)
		},
	}
}
