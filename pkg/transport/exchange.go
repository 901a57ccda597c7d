package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"
)

// phase is what a request waits for.
type phase int

const (
	connecting phase = iota
	sending
	waiting
	receiving
)

// exchange is a request and its response.
type exchange struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	host   string
	limits Limits
	notify func(host, waitingFor string)
	// blob reports that the response is not a document, uploads that the request has a body.
	blob, uploads bool

	mu    sync.Mutex
	ended bool
	at    phase
	// deadline is the end of the current phase, zero while this process is expected to act. within is the length of the
	// phase, last the end of the exchange.
	deadline, last time.Time
	within         time.Duration
	timer, notice  *time.Timer
	// idle is the time spent waiting for the body since the last minProgress bytes; moved counts the bytes since then.
	idle    time.Duration
	moved   int
	resumed time.Time
}

// limit begins a phase. The caller holds mu.
func (x *exchange) limit(at phase, within time.Duration) {
	x.at, x.within, x.deadline = at, within, time.Now().Add(within)
	if !x.last.IsZero() && x.last.Before(x.deadline) {
		x.within, x.deadline = x.limits.Document, x.last
	}
	x.timer.Reset(time.Until(x.deadline))
}

// connected begins the phase after the TLS handshake.
func (x *exchange) connected() {
	if x.uploads {
		x.resume(sending)
	} else {
		x.wait(waiting)
	}
}

// wait begins a phase with a fixed limit.
func (x *exchange) wait(at phase) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended || at < x.at { // a response may begin before its request has been written
		return
	}
	switch {
	case x.uploads && at == waiting:
		x.limit(at, x.limits.Upload)
	case at == waiting && x.blob:
		x.limit(at, x.limits.Response)
	default:
		x.limit(at, x.limits.Document)
	}
}

// resume continues to wait for the next part of a body.
func (x *exchange) resume(at phase) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended || at < x.at {
		return
	}
	x.limit(at, x.limits.Idle)
	x.deadline, x.resumed = x.deadline.Add(-x.idle), time.Now()
	x.timer.Reset(time.Until(x.deadline))
}

// pause ends the wait for a part of a body.
func (x *exchange) pause(at phase) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended || at < x.at {
		return
	}
	if !x.resumed.IsZero() {
		x.idle += time.Since(x.resumed)
	}
	x.at, x.deadline, x.resumed = at, time.Time{}, time.Time{}
}

// transferred counts n bytes of a body.
func (x *exchange) transferred(n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.moved += n; x.moved >= minProgress {
		x.moved, x.idle = 0, 0
	}
}

// expire ends the exchange if the current phase takes too long.
func (x *exchange) expire() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended || x.deadline.IsZero() || time.Now().Before(x.deadline) {
		return
	}
	x.cancel(&TimeoutError{Host: x.host, Limit: x.within, at: x.at, blob: x.blob})
}

// report reports a request that is still waiting for the server.
func (x *exchange) report() {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.ended || x.notify == nil:
		return
	case x.deadline.IsZero(): // the server waits for this process
		x.notice.Reset(x.limits.Notice)
		return
	}
	x.notify(x.host, [...]string{
		connecting: "to accept the connection", sending: "to accept the upload", waiting: "to respond", receiving: "to send the rest of its response",
	}[x.at])
}

// end ends the exchange. Callbacks that it started have returned.
func (x *exchange) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = true
	x.timer.Stop()
	x.notice.Stop()
	x.cancel(nil)
}

// explain returns why the exchange failed.
func (x *exchange) explain(err error) error {
	if timeout, ok := errors.AsType[*TimeoutError](context.Cause(x.ctx)); ok {
		return timeout
	}
	if x.ctx.Err() != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() { // a limit of Base
		return &TimeoutError{Host: x.host, Limit: x.within, at: x.at, blob: x.blob}
	}
	when := "without a response"
	if x.at == receiving {
		when = "in the middle of its response"
	}
	text := ""
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "server closed idle connection"):
		text = x.host + " closed the connection " + when + " (EOF)"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		text = x.host + " closed the connection " + when + " (connection reset)"
	case errors.Is(err, syscall.ECONNREFUSED):
		text = "no server listens at " + x.host + " (connection refused)"
	case strings.Contains(err.Error(), "malformed HTTP"):
		text = x.host + " is not an HTTP server"
	default:
		return err
	}
	return &connectionError{text, err}
}

// A connectionError is a connection that failed, with a text for users.
type connectionError struct {
	text string
	err  error
}

func (e *connectionError) Error() string { return e.text }
func (e *connectionError) Unwrap() error { return e.err }
