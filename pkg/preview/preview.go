package preview

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Options are the options of New. All are required.
type Options struct {
	// Quiet is how long the operator must not try anything new, and Limit how long to wait for that.
	Quiet, Limit time.Duration
	Now          func() time.Time
	// Progressf receives each new write, which several goroutines may find. Warnf receives how the operator's CRDs differ from the cluster's.
	Progressf, Warnf func(format string, args ...any)
}

// A Preview collects what an operator would change. Create one with New.
type Preview struct {
	o Options
	// remote are the groups and versions that other API servers serve, with the Service of each. Begin sets them, and missing, the names
	// of the CRDs that the cluster doesn't have.
	remote  map[string]string
	missing map[string]bool

	mu                                   sync.Mutex
	seen                                 map[string]bool
	last                                 time.Time
	found                                Result
	created, changed, deleted, unchanged map[string]bool
	// imagined are the objects that exist for nobody but the operator: the created ones, with the names that the API server generated.
	imagined map[string]bool
}

// A Result is what an operator would change.
type Result struct {
	// Changes are the different writes in the order of their objects, with one file per write.
	Changes []worktree.Change
	// Created, Changed and Deleted are the numbers of objects, and Unchanged the number of those that are only written as they are.
	Created, Changed, Deleted, Unchanged int
	// Repeated is the number of writes that are like an earlier one, and Events the number of Events.
	Repeated, Events int
	// Refused are the writes that can't be dry runs, or that the API server refuses. Unknown are those of which the result isn't known.
	Refused, Unknown []string
}

// Differs reports whether anything would change, or can't be known.
func (r *Result) Differs() bool {
	return r.Created+r.Changed+r.Deleted+len(r.Refused)+len(r.Unknown) > 0
}

// New returns a preview of nothing.
func New(o Options) *Preview {
	return &Preview{
		o: o, remote: map[string]string{}, missing: map[string]bool{}, seen: map[string]bool{},
		created: map[string]bool{}, changed: map[string]bool{}, deleted: map[string]bool{}, unchanged: map[string]bool{}, imagined: map[string]bool{},
	}
}

// Misses reports whether the cluster doesn't have a CRD of the operator, such as memcacheds.cache.example.com.
func (p *Preview) Misses(crd string) bool { return p.missing[crd] }

// lookPause is the pause between two looks.
const lookPause = 100 * time.Millisecond

// Wait waits until the operator tries nothing new, or until ctx ends. unwatched says what the operator has to watch before it can do anything,
// and busy what it is at work on; both return "" for nothing. An operator that repeats itself all the time is done at the limit.
func (p *Preview) Wait(ctx context.Context, unwatched, busy func() string) error {
	start := p.o.Now()
	last := start
	for {
		now := p.o.Now()
		p.mu.Lock()
		if p.last.After(last) {
			last = p.last
		}
		p.mu.Unlock()
		waiting := unwatched()
		if waiting != "" {
			last = now
		}
		quiet := now.Sub(last) >= p.o.Quiet
		switch over := now.Sub(start) >= p.o.Limit; {
		case over && waiting != "":
			return fmt.Errorf("not done within %s: %s", p.o.Limit, waiting)
		case over && !quiet:
			return fmt.Errorf("not done within %s: the operator still tries to write something new; wait longer with --timeout", p.o.Limit)
		case over || quiet && busy() == "":
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookPause):
		}
	}
}

// refuse says why a write isn't forwarded.
func (p *Preview) refuse(r gateway.Request) string {
	service, found := p.remote[r.Group+"/"+r.Version]
	if !found {
		return ""
	}
	return fmt.Sprintf("%s/%s is served by another API server (the Service %s), which may not support dry runs", r.Group, r.Version, service)
}
