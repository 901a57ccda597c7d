package stage

import (
	"context"
	"fmt"
	"time"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
)

// A Settling is when an API server counts as settled.
type Settling struct {
	// Quiet is how long no object must change, apart from those that change all the time.
	Quiet time.Duration
	// Limit is how long to wait for that.
	Limit time.Duration
	// Busy says what keeps an operator busy besides changes and the controllers of Kubernetes, or "". It may be nil.
	Busy func() string
	// Content reports whether the operator is known to wait for nothing but changes. Half of Quiet is enough then. It may be nil.
	Content func() bool
	// Done ends the wait before that, when it reports true. It may be nil.
	Done func() bool
	// Concerns reports whether an object counts. Nil means that all do.
	Concerns func(*kube.Object) bool
}

// counts reports whether an object counts.
func (s *Settling) counts(o *kube.Object) bool { return s.Concerns == nil || s.Concerns(o) }

// Content returns a Settling.Content for a step that is about to begin. retries returns how often the operator has failed or asked for another
// look so far, and whether that is known; it may be nil. An operator that has done so without a conflict may look again at any time: it isn't
// content in any step. After a conflict, it isn't in the step of the conflict.
func Content(retries func() (n int, known bool), requests func() []gateway.Record) func() bool {
	if retries == nil {
		return nil
	}
	before, _ := retries() // 0 if it isn't known, and then all count
	busy := false
	return func() bool {
		if !busy {
			n, known := retries()
			busy = !known || n != before || n > conflicts(requests())
		}
		return !busy
	}
}

// conflicts returns how many requests were refused with a conflict.
func conflicts(requests []gateway.Record) (n int) {
	for _, r := range requests {
		if r.IsConflict() {
			n++
		}
	}
	return n
}

// enough reports whether a time without changes is.
func (s *Settling) enough(quiet time.Duration) bool {
	return quiet >= s.Quiet || quiet >= s.Quiet/2 && s.Content != nil && s.Content()
}

// FirstOf returns a Settling.Busy that says the first of what others say. They may be nil.
func FirstOf(others ...func() string) func() string {
	return func() string {
		for _, other := range others {
			if other == nil {
				continue
			}
			if text := other(); text != "" {
				return text
			}
		}
		return ""
	}
}

// An UnsettledError says what kept an API server from settling.
type UnsettledError struct {
	Limit time.Duration
	// Last is the last change, and Busy what there was still to do; either can be empty.
	Last *Change
	Busy string
}

// Error implements error.
func (e *UnsettledError) Error() string {
	text := fmt.Sprintf("not settled within %s", e.Limit)
	if e.Last != nil {
		text += fmt.Sprintf("; the last change was that of %s", kube.FullName(e.Last.After))
	}
	if e.Busy != "" {
		text += "; " + e.Busy
	}
	return text
}

// collectorGrace is how much longer than the limit of a step the garbage collector may take, which pauses at times: that isn't a fault of an
// operator.
const collectorGrace = time.Minute

// finalizerQuiet is Settling.Quiet while an object waits for its finalizers, up to half of the limit: many operators wait for something
// else first, such as the end of pods, and look again after 5 or 10 seconds.
const finalizerQuiet = 12 * time.Second

// settlePause is the pause between two looks.
const settlePause = 50 * time.Millisecond

// Settle waits until nothing happens. It returns an *UnsettledError after the limit.
func (h *History) Settle(ctx context.Context, s Settling) error {
	start := h.now()
	for s.Done == nil || !s.Done() {
		now := h.now()
		last := h.last(&s)
		since := start // a step counts as a change
		if last != nil && last.Time.After(start) {
			since = last.Time
		}
		quiet, over := s.enough(now.Sub(since)), now.Sub(start) >= s.Limit
		if quiet && now.Sub(since) < min(finalizerQuiet, s.Limit/2) {
			quiet = !h.has(&s, finalizing(start)) // other objects had their time before
		}
		if over && now.Sub(start) < s.Limit+collectorGrace {
			over = !h.has(&s, h.isGarbage)
		}
		busy := ""
		if quiet || over {
			if busy = h.pending(&s); busy == "" && s.Busy != nil {
				busy = s.Busy()
			}
		}
		if quiet && busy == "" {
			return nil
		}
		if over {
			return &UnsettledError{Limit: s.Limit, Last: last, Busy: busy}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(settlePause):
		}
	}
	return nil
}

// last returns the last change of an object that counts and doesn't change all the time, or nil.
func (h *History) last(s *Settling) *Change {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.changes) - 1; i >= 0; i-- {
		if c := h.changes[i]; !IsHeartbeat(c.After) && s.counts(c.After) {
			return &c
		}
	}
	return nil
}

// IsHeartbeat reports whether an object changes while nothing happens: leases are renewed, and nodes report that they are alive.
func IsHeartbeat(o *kube.Object) bool {
	switch o.GetKind() {
	case "Lease", "Event", "Node":
		return true
	}
	return false
}
