package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/operon-sdk/operon/pkg/gateway"
)

// An operation is a change of a custom resource that the operator is killed during.
type operation struct {
	name string
	// prepare is done without a kill, and do is what the operator is killed during.
	prepare, do func(ctx context.Context, e *env, name string) error
	// after restores the resource; nil if there is nothing to do.
	after func(ctx context.Context, e *env, name string) error
	// hook is the suffix of the Job that the operation runs once; empty if it has none, or if it is repeated.
	hook string
}

func create(ctx context.Context, e *env, name string) error {
	return e.create(ctx, name, spec{Tag: "1", Message: "created", Hooks: true})
}

func change(change func(*spec)) func(context.Context, *env, string) error {
	return func(ctx context.Context, e *env, name string) error {
		changed := e.expected[name].spec
		change(&changed)
		return e.update(ctx, name, changed)
	}
}

func operations() []operation {
	remove := func(ctx context.Context, e *env, name string) error { return e.remove(ctx, name) }
	return []operation{
		{name: "install", do: create, hook: "pre", after: remove},
		{name: "upgrade", prepare: create, do: change(func(s *spec) { s.Tag = "2" }), hook: "post", after: remove},
		{
			name: "rollback", prepare: create, do: change(func(s *spec) { s.Tag, s.Fail = "2", true }),
			after: func(ctx context.Context, e *env, name string) error {
				// The spec that is deployed again, and then another one.
				if err := change(func(s *spec) { s.Tag, s.Fail = "1", false })(ctx, e, name); err != nil {
					return err
				}
				if err := e.verify(ctx, "after the rollback", convergence); err != nil {
					return err
				}
				return change(func(s *spec) { s.Tag = "3" })(ctx, e, name)
			},
		},
		{name: "uninstall", prepare: create, do: remove, hook: "del"},
	}
}

// convergence is the time after which everything must be as expected again. It is long, as the machine can be busy: an operator that
// doesn't retry fails in any case.
const convergence = 4 * time.Minute

// runKills kills the operator at the first write of each operation, at the second, and so on, until the operation needs no more writes:
// once before the API server gets the request, and once before the operator gets the answer. Each operation has an operator of its own.
func runKills(ctx context.Context, e *env) error {
	if e.flavor.name == "helm" {
		return e.killRounds(ctx, e.kills)
	}
	return e.killRounds(ctx, 0)
}

// killRounds repeats all operations until the operator was killed often enough.
func (e *env) killRounds(ctx context.Context, least int) error {
	total := map[string]int{}
	var mu sync.Mutex
	kills := func() (sum int) {
		mu.Lock()
		defer mu.Unlock()
		for _, n := range total {
			sum += n
		}
		return sum
	}
	o, err := e.startOperator(ctx)
	if err != nil {
		return err
	}
	for round := 1; ; round++ {
		for _, op := range operations() {
			n, err := e.killThrough(ctx, o, op, round)
			mu.Lock()
			total[op.name] += n
			mu.Unlock()
			if err != nil {
				return err
			}
			e.progressf("%s: %d kills, %d in total", op.name, n, kills())
			e.figure("kill-"+op.name, "of them during: "+op.name, "%d", total[op.name])
		}
		if kills() >= least {
			break
		}
	}
	e.quiet(ctx, "after all kills", 3*time.Second)
	if e.flavor.name == "ansible" {
		e.checkProcesses(ctx, o)
	}
	e.figure("kills", "Kills (SIGKILL) at a write", "%d", kills())
	return nil
}

// killThrough kills the operator at each write of an operation, and returns the number of kills.
func (e *env) killThrough(ctx context.Context, o *operator, op operation, round int) (kills int, err error) {
	const most = 60 // writes of an operation that ends
	for n := 1; n <= most; n++ {
		killed := false
		for _, side := range []gateway.Side{gateway.Before, gateway.After} {
			name := fmt.Sprintf("%c%d-%02d%c", op.name[0], round, n, "ba"[side])
			if op.name == "uninstall" {
				name = "d" + name
			}
			done, err := e.killOnce(ctx, o, op, name, n, side)
			if err != nil {
				return kills, err
			}
			if done {
				killed = true
				kills++
			}
		}
		if !killed {
			return kills, nil
		}
	}
	e.violatef("%s: more than %d writes", op.name, most)
	return kills, nil
}

// killOnce does an operation during which the operator is killed at the n-th write, and reports whether there was an n-th write.
func (e *env) killOnce(ctx context.Context, o *operator, op operation, name string, n int, side gateway.Side) (killed bool, err error) {
	if op.prepare != nil {
		if err := op.prepare(ctx, e, name); err != nil {
			return false, err
		}
		if err := e.verify(ctx, op.name+": preparation", convergence); err != nil {
			return false, err
		}
	}
	runs := e.controllers.jobRuns(e.namespace, name+"-"+op.hook)
	hold := e.gateway.Hold(n, side, e.isWriteOf(name))
	defer hold.Release()
	if err := op.do(ctx, e, name); err != nil {
		return false, err
	}
	what := fmt.Sprintf("%s, write %d", op.name, n)
	converged := make(chan error, 1)
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		converged <- poll(waiting, convergence, 50*time.Millisecond, func(ctx context.Context) error { _, err := e.check(ctx); return err })
	}()
	select {
	case request := <-hold.Reached():
		stop()
		<-converged
		killed = true
		what = fmt.Sprintf("%s, killed at write %d (%s; %s; resource %s)", op.name, n, request, side, name)
		e.detailf("%s", what)
		o.kill()
		hold.Release()
		if err := o.start(ctx); err != nil {
			return killed, err
		}
	case <-converged:
		hold.Release()
	}
	if err := e.verify(ctx, what, convergence); err != nil {
		return killed, err
	}
	e.checkOnce(op, name, what, runs, killed)
	if op.after != nil {
		if err := op.after(ctx, e, name); err != nil {
			return killed, err
		}
		return killed, e.verify(ctx, what+", and then", convergence)
	}
	return killed, nil
}

// checkOnce records hooks that ran too often, and objects that were created twice.
func (e *env) checkOnce(op operation, name, what string, before int, killed bool) {
	if twice := e.createdTwice()[name]; len(twice) > 0 {
		e.violatef("%s: created more than once: %q", what, twice)
	}
	if op.hook == "" || e.flavor.name != "helm" {
		return
	}
	runs, most := e.controllers.jobRuns(e.namespace, name+"-"+op.hook)-before, 1
	if killed {
		most = 2 // the kill can hide that the hook has ended
	}
	if runs < 1 || runs > most {
		e.violatef("%s: the hook %s ran %d times, want 1 to %d", what, op.hook, runs, most)
	}
}

// checkProcesses records processes of runs that survive the operator.
func (e *env) checkProcesses(ctx context.Context, o *operator) {
	o.kill()
	err := poll(ctx, 10*time.Second, 200*time.Millisecond, func(context.Context) error {
		if n := len(marked(o.marker)); n > 0 {
			return fmt.Errorf("%d processes are left after the operator was killed", n)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		e.violatef("%v", err)
	}
}
