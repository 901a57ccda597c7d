package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/operon-sdk/operon/pkg/gateway"
)

// A phase is a time in which something fails.
type phase struct {
	name string
	// rules are active during the phase, and act is repeated in it, if it isn't nil.
	rules []gateway.Rule
	every time.Duration
	act   func(context.Context, *env) error
}

func share(name string, share float64, fault gateway.Fault) gateway.Rule {
	return gateway.Rule{Name: name, Share: share, Fault: fault, Match: func(r gateway.Request) bool { return r.Verb != "watch" }}
}

func phases() []phase {
	throttled := share("throttled", 0.3, gateway.TooManyRequests(time.Second))
	unavailable := share("unavailable", 0.2, gateway.Status(http.StatusServiceUnavailable, "ServiceUnavailable", "the server is currently unable to handle the request", 0))
	failing := share("failing", 0.2, gateway.Status(http.StatusInternalServerError, "InternalError", "etcdserver: request timed out", 0))
	slow := share("slow", 0.3, gateway.Slow(1500*time.Millisecond))
	reset, lost := share("reset", 0.15, gateway.Reset()), share("lost", 0.1, gateway.LoseResponse())
	cut := func(_ context.Context, e *env) error { e.gateway.CutWatches(); return nil }
	return []phase{
		{name: "429 with Retry-After", rules: []gateway.Rule{throttled}},
		{name: "500 and 503", rules: []gateway.Rule{unavailable, failing}},
		{name: "slow answers", rules: []gateway.Rule{slow}},
		{name: "lost requests and answers", rules: []gateway.Rule{reset, lost}},
		{name: "cut watches", every: 300 * time.Millisecond, act: cut},
		{name: "reset connections", every: time.Second, act: func(_ context.Context, e *env) error { e.gateway.ResetConnections(); return nil }},
		{name: "no API server", act: func(ctx context.Context, e *env) error {
			e.gateway.Refuse()
			sleep(ctx, 5*time.Second)
			e.gateway.Accept()
			return nil
		}},
		{name: "API server killed", act: func(ctx context.Context, e *env) error { return e.plane.restart(ctx, syscall.SIGKILL, time.Second) }},
		{name: "API server restarted", act: func(ctx context.Context, e *env) error {
			return e.plane.restart(ctx, syscall.SIGTERM, time.Second)
		}},
		{name: "everything at once", rules: []gateway.Rule{throttled, failing, slow, lost}, every: 3 * time.Second, act: cut},
	}
}

// phaseTime is the duration of a phase.
const phaseTime = 6 * time.Second

// runFaults changes resources during each phase, and checks the result after it.
func runFaults(ctx context.Context, e *env) error {
	n, o, err := e.begin(ctx, 40, 15, "before all faults")
	if err != nil {
		return err
	}
	created, injected, restarts := n, 0, 0
	for _, phase := range phases() {
		before := e.requests.counted()
		if err := e.runPhase(ctx, phase, &created, n); err != nil {
			return err
		}
		start := time.Now()
		if err := e.verify(ctx, phase.name, convergence); err != nil {
			return err
		}
		counts := e.requests.counted().minus(before)
		faults := counts.total(func(k key) bool { return k.code == 0 || k.code == 429 || k.code >= 500 })
		e.progressf("%s: %d of %d requests failed, as expected %.0f s later", phase.name, faults, counts.total(nil), time.Since(start).Seconds())
		injected += faults
		e.quiet(ctx, phase.name, 2*time.Second)
		if phase.name == "API server killed" || phase.name == "API server restarted" {
			restarts++
		}
	}
	e.figure("faults", "Requests that failed", "%s", thousands(injected))
	e.figure("restarts", "Restarts of the API server", "%d", restarts)
	e.figure("faults-exits", "Exits of the operator meanwhile", "%d", o.unexpectedExits())
	return nil
}

// runPhase changes a third of the resources while something fails, deletes a tenth, and creates as many.
func (e *env) runPhase(ctx context.Context, p phase, created *int, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for _, rule := range p.rules {
		defer e.gateway.Add(rule)()
	}
	var group sync.WaitGroup
	defer group.Wait()
	acting, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 1)
	if p.act != nil {
		group.Go(func() {
			// The operator begins to work before the first act.
			for sleep(acting, max(p.every, 100*time.Millisecond)) {
				if err := p.act(ctx, e); err != nil {
					failed <- err
					return
				}
				if p.every == 0 {
					return
				}
			}
		})
	}
	names := e.living()
	e.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	third, tenth := n/3, max(n/10, 1)
	for i := range third + 2*tenth {
		var err error
		switch {
		case i < third:
			changed := e.expected[names[i]].spec
			changed.Tag = fmt.Sprintf("%d", 10+e.rand.IntN(90))
			changed.Message = p.name
			err = e.update(ctx, names[i], changed)
		case i < third+tenth:
			err = e.remove(ctx, names[i])
		default:
			err = e.create(ctx, fmt.Sprintf("r%04d", *created), spec{Tag: "1", Message: p.name, Hooks: e.rand.IntN(3) == 0})
			*created++
		}
		if err != nil {
			return err
		}
	}
	if !sleep(ctx, phaseTime) {
		return ctx.Err()
	}
	stop()
	group.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}
