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
	answering
	receiving
)

// exchange is a request with its answer.
type exchange struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	host    string
	limits  Limits
	waiting func(host, waiting string)
	// blob reports that the answer is not a document, uploads that the request has a body.
	blob, uploads bool

	mu    sync.Mutex
	ended bool
	at    phase
	// deadline is when the current phase must be over; zero where the server has nothing to do. within is what it was
	// given, last when the whole exchange must be over.
	deadline, last time.Time
	within         time.Duration
	timer, notice  *time.Timer
	// idle is how long the body was waited for since the last minProgress bytes, of which moved were transferred.
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
		x.wait(answering)
	}
}

// wait begins a phase that is limited as a whole.
func (x *exchange) wait(at phase) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended || at < x.at { // an answer may begin before its request has been written
		return
	}
	switch {
	case x.uploads && at == answering:
		x.limit(at, x.limits.Upload)
	case at == answering && x.blob:
		x.limit(at, x.limits.Answer)
	default:
		x.limit(at, x.limits.Document)
	}
}

// resume goes on waiting for the next part of a body.
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

func (x *exchange) notify() {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.ended || x.waiting == nil:
		return
	case x.deadline.IsZero(): // the server waits for this process
		x.notice.Reset(x.limits.Notice)
		return
	}
	x.waiting(x.host, [...]string{
		connecting: "to accept the connection", sending: "to take the upload", answering: "to answer", receiving: "to send the rest of its answer",
	}[x.at])
}

// end ends the exchange. What it called has returned.
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
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() { // that of Base
		return &TimeoutError{Host: x.host, Limit: x.within, at: x.at, blob: x.blob}
	}
	when := "without an answer"
	if x.at == receiving {
		when = "in the middle of its answer"
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
		text = x.host + " does not speak HTTP"
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
