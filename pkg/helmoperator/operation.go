package helmoperator

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/customresource"
)

// errSuperseded ends an operation whose custom resource has changed or is gone.
var errSuperseded = errors.New("the custom resource has changed")

// An operation is a full pass over one custom resource. It runs in a goroutine of its own, but only while a worker of the controller
// drives it. When it has to wait, it parks: the worker is free for other resources, and the end of the wait adds the resource to the
// queue, so that the next worker that is free drives the operation on. So waits don't count as concurrent reconciles, and everything
// else does.
type operation struct {
	owner  *operations
	key    types.NamespacedName
	target target
	ctx    context.Context //nolint:containedctx // It outlives the call that has started the operation.
	cancel context.CancelCauseFunc

	parked  chan struct{} // received by the worker that drives the operation
	resumed chan struct{} // sent by the worker that will drive it
	done    chan struct{} // closed at the end, after the results are set

	result   reconcile.Result
	err      error
	panicked any
}

// operations are the operations of a reconciler, at most one for each resource.
type operations struct {
	mu      sync.Mutex
	running map[types.NamespacedName]*operation
	// ready are the operations whose wait has ended.
	ready map[*operation]bool
	// lifetime ends when the controller stops, and queue is the controller's. They are nil before it starts; no operation parks then.
	lifetime context.Context //nolint:containedctx // see above
	queue    customresource.Queue
	// changed is closed and replaced when an operation ends.
	changed chan struct{}
}

// bind is called when the controller starts.
func (o *operations) bind(ctx context.Context, queue customresource.Queue) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lifetime, o.queue = ctx, queue
}

// run calls do in an operation. It returns the results of do, or none if the operation waits. The context of do ends when the
// operation is superseded or the controller stops.
func (o *operations) run(ctx context.Context, key types.NamespacedName, t target, do func(context.Context, *operation) (reconcile.Result, error)) (reconcile.Result, error) {
	op := &operation{
		owner: o, key: key, target: t, parked: make(chan struct{}), resumed: make(chan struct{}), done: make(chan struct{}),
	}
	var cancel context.CancelCauseFunc
	op.ctx, cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	op.cancel = cancel
	o.mu.Lock()
	lifetime := o.lifetime
	if lifetime == nil {
		lifetime = ctx
	}
	if o.running == nil {
		o.running, o.ready, o.changed = map[types.NamespacedName]*operation{}, map[*operation]bool{}, make(chan struct{})
	}
	o.running[key] = op
	o.mu.Unlock()
	stop := context.AfterFunc(lifetime, func() { cancel(context.Cause(lifetime)) })
	go func() {
		defer func() {
			op.panicked = recover()
			stop()
			cancel(nil)
			o.remove(op)
			close(op.done)
		}()
		op.result, op.err = do(op.ctx, op)
	}()
	return op.drive()
}

func (o *operations) remove(op *operation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.running, op.key)
	delete(o.ready, op)
	close(o.changed)
	o.changed = make(chan struct{})
}

// drive waits until an operation ends or parks.
func (op *operation) drive() (reconcile.Result, error) {
	select {
	case <-op.parked:
		return reconcile.Result{}, nil
	case <-op.done:
		return op.outcome()
	}
}

// outcome returns the results of an operation that has ended. A panic continues in the worker, which handles it.
func (op *operation) outcome() (reconcile.Result, error) {
	if op.panicked != nil {
		panic(op.panicked)
	}
	return op.result, op.err
}

// wait parks the operation while until blocks. It is called by the operation.
func (op *operation) wait(until func() error) error {
	op.owner.mu.Lock()
	queue, lifetime := op.owner.queue, op.owner.lifetime
	op.owner.mu.Unlock()
	if queue == nil || lifetime.Err() != nil || op.ctx.Err() != nil {
		return until() // nobody would drive it on
	}
	select {
	case op.parked <- struct{}{}:
	case <-op.ctx.Done():
		return until()
	}
	err := until()
	if op.ctx.Err() != nil {
		return err
	}
	op.owner.mu.Lock()
	op.owner.ready[op] = true
	op.owner.mu.Unlock()
	queue.Add(reconcile.Request{NamespacedName: op.key})
	select {
	case <-op.resumed:
	case <-op.ctx.Done():
	}
	return err
}

// find returns the operation of a resource that waits, or nil, and whether its wait has ended. The workqueue never gives a resource to
// two workers, so that no operation is being driven.
func (o *operations) find(key types.NamespacedName) (op *operation, ready bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	op = o.running[key]
	ready = op != nil && o.ready[op]
	if ready {
		delete(o.ready, op)
	}
	return op, ready
}

// resume drives an operation whose wait has ended.
func (op *operation) resume() (reconcile.Result, error) {
	select {
	case op.resumed <- struct{}{}:
		return op.drive()
	case <-op.done: // the controller stops
		return op.outcome()
	}
}

// supersede ends an operation that waits, and returns when it has ended: the next one must not work on the same release at the same
// time.
func (op *operation) supersede(ctx context.Context) error {
	op.cancel(errSuperseded)
	select {
	case <-op.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if op.panicked != nil {
		log.FromContext(ctx).Error(fmt.Errorf("panic: %v", op.panicked), "a pass that was superseded failed")
	}
	return nil
}

// Start implements manager.Runnable: when the controller stops, the manager waits until all operations have ended.
func (o *operations) Start(ctx context.Context) error {
	<-ctx.Done()
	for {
		o.mu.Lock()
		count, changed := len(o.running), o.changed
		o.mu.Unlock()
		if count == 0 {
			return nil
		}
		<-changed
	}
}
