package ansibleoperator

import "time"

// WithBackoff sets the delay after the first failed run.
func WithBackoff(delay time.Duration) Option {
	return func(r *Reconciler) error { r.kind.Backoff = delay; return nil }
}
