package cmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// EndSignals returns the signals that ask the program to end: an interrupt, SIGTERM, and the SIGHUP of a closed terminal
// unless it is ignored, as nohup does.
func EndSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// untilInterrupted returns a context that is canceled with ctx or when the program is asked to end.
func untilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, EndSignals()...)
}

// secondInterrupt returns a channel that is closed when the program is asked to end again, while it ends.
func secondInterrupt() (done <-chan struct{}, stop context.CancelFunc) {
	ctx, stop := untilInterrupted(context.Background())
	return ctx.Done(), stop
}
