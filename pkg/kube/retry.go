package kube

import (
	"context"
	"errors"
	"net/http"
	"time"
)

const (
	// pollInterval is the time between two reads of an object that a command waits for.
	pollInterval = 500 * time.Millisecond
	// attempts is the maximum number of attempts of Retry.
	attempts = 10
)

// Retry calls do until it succeeds, its error is not transient, or ctx ends, at most ten times.
func Retry(ctx context.Context, do func() error) error { return RetryIf(ctx, do, IsTransient) }

// RetryIf is like Retry, but repeats after the errors for which retriable returns true.
func RetryIf(ctx context.Context, do func() error, retriable func(error) bool) error {
	for attempt := 1; ; attempt++ {
		err := do()
		if err == nil || attempt == attempts || !retriable(err) || !Pause(ctx) {
			return err
		}
	}
}

// IsTransient reports whether a request that failed with err may succeed when repeated: the server is starting, overloaded or
// unreachable, or the object was changed concurrently.
func IsTransient(err error) bool {
	switch code := errorCode(err); {
	case code == 0:
		return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	default:
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests || code == http.StatusConflict
	}
}

// Pause waits half a second, the interval of polling. It reports whether ctx has not ended.
func Pause(ctx context.Context) bool {
	timer := time.NewTimer(pollInterval)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
