package cmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilInterrupted is ctx until a person or the system asks the program to end.
func untilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// hurry is closed when the program is asked once more, while it is ending.
func hurry() (done <-chan struct{}, stop context.CancelFunc) {
	ctx, stop := untilInterrupted(context.Background())
	return ctx.Done(), stop
}
