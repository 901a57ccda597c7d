package gateway

import "sync"

// A Side is the side of the API server on which a request is held.
type Side int

const (
	// Before holds a request that never reaches the API server.
	Before Side = iota
	// After holds the answer of the API server, which never reaches the program.
	After
)

func (s Side) String() string {
	if s == Before {
		return "request lost"
	}
	return "answer lost"
}

// A Hold stops one request until it is released. The request then ends with a reset.
type Hold struct {
	reached  chan Request
	released chan struct{}
	release  sync.Once
	remove   func()
}

// Hold holds the n-th matching request, counted from 1.
func (g *Gateway) Hold(n int, side Side, match func(Request) bool) *Hold {
	h := &Hold{reached: make(chan Request, 1), released: make(chan struct{})}
	h.remove = g.Add(Rule{Name: "hold", Match: match, Skip: n - 1, Times: 1, Fault: func(x *Exchange) {
		if side == After {
			x.forwardSilently()
		}
		h.reached <- x.Request
		<-h.released
		x.Reset()
	}})
	return h
}

// Reached returns a channel that receives the request when it is held.
func (h *Hold) Reached() <-chan Request { return h.reached }

// Release ends the hold. It may be called repeatedly, also if no request was held.
func (h *Hold) Release() {
	h.release.Do(func() {
		h.remove()
		close(h.released)
	})
}
