package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// runLeaders ends the leader of two processes while it works, in turn with SIGKILL and SIGTERM.
func runLeaders(ctx context.Context, e *env) error {
	n := e.count(20, 10)
	if err := e.createMany(ctx, n); err != nil {
		return err
	}
	args := []string{"--leader-elect", "--leader-election-id", "soak", "--leader-election-namespace", e.namespace}
	var operators []*operator
	for range 2 {
		o, err := e.startOperator(ctx, args...)
		if err != nil {
			return err
		}
		operators = append(operators, o)
	}
	if err := e.verify(ctx, "before all changes", convergence); err != nil {
		return err
	}
	const changes = 6
	created := n
	var longest time.Duration
	for change := range changes {
		leader, other, err := e.leader(ctx, operators)
		if err != nil {
			return err
		}
		if err := e.workForLeader(ctx, &created, change); err != nil {
			return err
		}
		sleep(ctx, time.Duration(50+e.rand.IntN(1500))*time.Millisecond)
		signal := []os.Signal{syscall.SIGKILL, syscall.SIGTERM}[change%2]
		leader.end(signal)
		ended := time.Now()
		if err := poll(ctx, convergence, 100*time.Millisecond, func(context.Context) error {
			if !other.isLeader() {
				return errors.New("the other process isn't the leader")
			}
			return nil
		}); err != nil {
			e.violatef("change %d with %s: %v", change, signal, err)
		}
		longest = max(longest, time.Since(ended))
		e.detailf("change %d with %s after %.1f s", change, signal, time.Since(ended).Seconds())
		if err := leader.start(ctx); err != nil {
			return err
		}
		if err := e.verify(ctx, fmt.Sprintf("change %d with %s", change, signal), convergence); err != nil {
			return err
		}
		e.checkCreatedOnce(fmt.Sprintf("change %d with %s", change, signal))
		if leader.isLeader() {
			e.violatef("change %d: both processes reconcile", change)
		}
	}
	e.quiet(ctx, "after all changes", 3*time.Second)
	for _, o := range operators {
		o.checkExits()
	}
	e.figure("leaders", "Leaders ended while they work (SIGKILL and SIGTERM)", "%d", changes)
	e.figure("leader-gap", "Longest time until the other process works", "%.0f s", longest.Seconds())
	return nil
}

// leader returns the process that reconciles, and the other one.
func (e *env) leader(ctx context.Context, operators []*operator) (leader, other *operator, err error) {
	err = poll(ctx, convergence, 100*time.Millisecond, func(context.Context) error {
		for i, o := range operators {
			if o.isLeader() {
				leader, other = o, operators[1-i]
				return nil
			}
		}
		return errors.New("no process is the leader")
	})
	return leader, other, err
}

// workForLeader changes three resources, deletes one and creates two.
func (e *env) workForLeader(ctx context.Context, created *int, change int) error {
	for i, name := range e.pick(4) {
		if i == 0 {
			if err := e.remove(ctx, name); err != nil {
				return err
			}
			continue
		}
		changed := e.expected[name].spec
		changed.Tag = fmt.Sprint(10 + change)
		if err := e.update(ctx, name, changed); err != nil {
			return err
		}
	}
	for range 2 {
		if err := e.create(ctx, fmt.Sprintf("r%04d", *created), spec{Tag: "1", Message: "created", Hooks: true}); err != nil {
			return err
		}
		*created++
	}
	return nil
}
