package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/operon-sdk/operon/pkg/gateway"
)

// fullTime is how long etcd has no space.
const fullTime = 5 * time.Second

// runFull lets etcd be full from the start of an operator, and from the middle of operations.
func runFull(ctx context.Context, e *env) error {
	n, o, err := e.begin(ctx, 20, 8, "before etcd is full")
	if err != nil {
		return err
	}
	o.kill()
	created := n
	if err := e.workForLeader(ctx, &created, 0); err != nil {
		return err
	}
	if err := e.plane.setFull(ctx, true); err != nil {
		return err
	}
	if err := o.start(ctx); err != nil {
		return err
	}
	sleep(ctx, fullTime)
	if err := e.plane.setFull(context.WithoutCancel(ctx), false); err != nil {
		return err
	}
	if err := e.verify(ctx, "full from the start", convergence); err != nil {
		return err
	}
	times := 1
	for _, op := range operations() {
		for range 3 {
			name := fmt.Sprintf("f%02d", times)
			if err := e.fillDuring(ctx, op, name, 1+e.rand.IntN(12)); err != nil {
				return err
			}
			times++
		}
	}
	refused := e.requests.counted().total(func(k key) bool { return k.code == http.StatusInternalServerError })
	if refused == 0 {
		e.violatef("etcd has refused no write")
	}
	e.quiet(ctx, "after etcd was full", 3*time.Second)
	o.checkExits()
	e.figure("full", "Times that etcd was full, and writes that it refused", "%d, %d", times, refused)
	return nil
}

// fillDuring lets etcd be full from the n-th write of an operation, or after the operation if it has fewer.
func (e *env) fillDuring(ctx context.Context, op operation, name string, n int) error {
	if op.prepare != nil {
		if err := op.prepare(ctx, e, name); err != nil {
			return err
		}
		if err := e.verify(ctx, op.name+": preparation", convergence); err != nil {
			return err
		}
	}
	what := fmt.Sprintf("full from write %d of: %s %s", n, op.name, name)
	full := make(chan error, 1)
	remove := e.gateway.Add(gateway.Rule{Name: "full", Match: e.isWriteOf(name), Skip: n - 1, Times: 1, Fault: func(x *gateway.Exchange) {
		full <- e.plane.setFull(ctx, true)
		x.Forward()
	}})
	defer remove()
	if err := op.do(ctx, e, name); err != nil {
		return err
	}
	select {
	case err := <-full:
		e.detailf("%s", what)
		sleep(ctx, fullTime)
		if err := errors.Join(err, e.plane.setFull(context.WithoutCancel(ctx), false)); err != nil {
			return err
		}
	case <-time.After(fullTime):
		e.detailf("%s: it has fewer writes", what)
	case <-ctx.Done():
		return ctx.Err()
	}
	remove()
	if err := e.verify(ctx, what, convergence); err != nil {
		return err
	}
	if op.after == nil {
		return nil
	}
	if err := op.after(ctx, e, name); err != nil {
		return err
	}
	return e.verify(ctx, what+", and then", convergence)
}
