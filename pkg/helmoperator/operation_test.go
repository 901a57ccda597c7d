package helmoperator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// An operationEnv is a queue of operations with a context like a controller's.
type operationEnv struct {
	*testing.T
	operations
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
	stop  context.CancelFunc
}

func newOperationTest(t *testing.T) *operationEnv {
	t.Helper()
	o := &operationEnv{T: t, queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())}
	t.Cleanup(o.queue.ShutDown)
	var ctx context.Context
	ctx, o.stop = context.WithCancel(t.Context())
	o.bind(ctx, o.queue)
	return o
}

func key(name string) types.NamespacedName { return types.NamespacedName{Name: name} }

// block starts an operation that waits until release is closed, or until it is superseded.
func (o *operationEnv) block(name string, release <-chan struct{}, result error) *operation {
	o.Helper()
	got, err := o.run(o.Context(), key(name), target{}, func(ctx context.Context, op *operation) (reconcile.Result, error) {
		err := op.wait(func() error {
			select {
			case <-release:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		return reconcile.Result{RequeueAfter: time.Minute}, errors.Join(err, result)
	})
	if err != nil || got.RequeueAfter != 0 {
		o.Fatalf("%v %v, want a wait", got, err)
	}
	op, ready := o.find(key(name))
	if op == nil || ready {
		o.Fatalf("operation %v, ready %v", op, ready)
	}
	return op
}

// next returns the operation that the queue has next.
func (o *operationEnv) next() *operation {
	o.Helper()
	request, _ := o.queue.Get()
	o.queue.Done(request)
	op, ready := o.find(request.NamespacedName)
	if op == nil || !ready {
		o.Fatalf("%s is in the queue, but its wait has not ended", request)
	}
	return op
}

// An operation gives back its worker while it waits, and continues with another one.
func TestOperationWaits(t *testing.T) {
	t.Parallel()
	o := newOperationTest(t)
	release := make(chan struct{})
	failure := errors.New("failed")
	for i := range 20 {
		o.block(fmt.Sprint(i), release, failure)
	}
	close(release)
	for range 20 {
		if result, err := o.next().resume(); !errors.Is(err, failure) || result.RequeueAfter != time.Minute {
			t.Errorf("%v %v", result, err)
		}
	}
	if len(o.running)+len(o.ready) > 0 {
		t.Errorf("operations are left: %v %v", o.running, o.ready)
	}
}

// Only operations that are driven do something.
func TestOperationsAreDriven(t *testing.T) {
	t.Parallel()
	o := newOperationTest(t)
	var active atomic.Int32
	work := func() {
		if n := active.Add(1); n > 2 {
			t.Errorf("%d operations are active at the same time, with two workers", n)
		}
		time.Sleep(time.Millisecond)
		active.Add(-1)
	}
	var left sync.WaitGroup
	for i := range 50 {
		left.Add(1)
		o.queue.Add(reconcile.Request{NamespacedName: key(fmt.Sprint(i))})
	}
	for range 2 {
		go func() {
			for {
				request, stopped := o.queue.Get()
				if stopped {
					return
				}
				if op, ready := o.find(request.NamespacedName); op != nil {
					if ready {
						_, _ = op.resume()
					}
				} else {
					_, _ = o.run(t.Context(), request.NamespacedName, target{}, func(_ context.Context, op *operation) (reconcile.Result, error) {
						for range 3 {
							work()
							_ = op.wait(func() error { time.Sleep(time.Millisecond); return nil })
						}
						work()
						left.Done()
						return reconcile.Result{}, nil
					})
				}
				o.queue.Done(request)
			}
		}()
	}
	left.Wait()
}

// A superseded operation has ended before the next one starts. It cannot wait again.
func TestOperationIsSuperseded(t *testing.T) {
	t.Parallel()
	o := newOperationTest(t)
	var ended atomic.Bool
	_, err := o.run(t.Context(), key("a"), target{}, func(ctx context.Context, op *operation) (reconcile.Result, error) {
		for range 3 {
			if err := op.wait(func() error { <-ctx.Done(); return context.Cause(ctx) }); !errors.Is(err, errSuperseded) {
				t.Errorf("the wait ended with %v", err)
			}
		}
		ended.Store(true)
		return reconcile.Result{}, ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	op, _ := o.find(key("a"))
	if err := op.supersede(t.Context()); err != nil || !ended.Load() {
		t.Errorf("error %v, ended %v", err, ended.Load())
	}
	if op, _ := o.find(key("a")); op != nil {
		t.Error("the operation is left")
	}
	// Its wait may have ended, too.
	release := make(chan struct{})
	op = o.block("b", release, nil)
	close(release)
	if o.next() != op {
		t.Error("another operation")
	}
	if err := op.supersede(t.Context()); err != nil || len(o.running)+len(o.ready) > 0 {
		t.Errorf("error %v; left: %v %v", err, o.running, o.ready)
	}
}

// The manager stops after all operations have ended.
func TestOperationsEndWithController(t *testing.T) {
	t.Parallel()
	o := newOperationTest(t)
	var ops []*operation
	for i := range 10 {
		ops = append(ops, o.block(fmt.Sprint(i), nil, nil))
	}
	stopping, cancel := context.WithCancel(t.Context())
	stopped := make(chan error)
	go func() { stopped <- o.Start(stopping) }()
	cancel()
	o.stop()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	for _, op := range ops {
		select {
		case <-op.done:
		default:
			t.Error("an operation goes on")
		}
	}
	// A pass that begins during the shutdown doesn't leave its worker.
	_, err := o.run(t.Context(), key("late"), target{}, func(ctx context.Context, op *operation) (reconcile.Result, error) {
		return reconcile.Result{}, op.wait(func() error { <-ctx.Done(); return ctx.Err() })
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A panic after a wait is one of the worker.
func TestOperationPanics(t *testing.T) {
	t.Parallel()
	o := newOperationTest(t)
	_, err := o.run(t.Context(), key("a"), target{}, func(_ context.Context, op *operation) (reconcile.Result, error) {
		_ = op.wait(func() error { return nil })
		panic("broken")
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if got := recover(); got != "broken" {
			t.Errorf("recovered %v", got)
		}
	}()
	_, _ = o.next().resume()
}

// Without a controller, as in tests of an operator, a pass waits in the call of Reconcile.
func TestOperationWithoutController(t *testing.T) {
	t.Parallel()
	var o operations
	waited := false
	result, err := o.run(t.Context(), key("a"), target{}, func(_ context.Context, op *operation) (reconcile.Result, error) {
		err := op.wait(func() error { waited = true; return nil })
		return reconcile.Result{RequeueAfter: time.Second}, err
	})
	if err != nil || !waited || result.RequeueAfter != time.Second {
		t.Errorf("%v %v, waited %v", result, err, waited)
	}
}
