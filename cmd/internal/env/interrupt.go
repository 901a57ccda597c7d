package env

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/operon-sdk/operon/cmd/internal/prompt"
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

// UntilInterrupted returns a context that is canceled with ctx or when the program is asked to end.
func UntilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, EndSignals()...)
}

// SecondInterrupt returns a channel that is closed when the program is asked to end again, while it ends.
func SecondInterrupt() (done <-chan struct{}, stop context.CancelFunc) {
	ctx, stop := UntilInterrupted(context.Background())
	return ctx.Done(), stop
}

// Interrupted replaces the error of an interrupted command with prompt.ErrInterrupted.
func Interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return prompt.ErrInterrupted
	}
	return err
}
