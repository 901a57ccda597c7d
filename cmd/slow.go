package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// slowAfter is the default of Env.SlowAfter.
const slowAfter = 2 * time.Second

// reportSlow runs a step, and prints its description on w if it takes long. It does not write after it has returned.
func (a *app) reportSlow(w io.Writer, description string, step func() error) error {
	return a.reportCounting(w, func() string { return description }, step)
}

// reportCounting is reportSlow for a step whose description counts. It is printed again from time to time if it has changed.
func (a *app) reportCounting(w io.Writer, describe func() string, step func() error) error {
	after := cmp.Or(a.SlowAfter, slowAfter)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		timer := time.NewTimer(after)
		defer timer.Stop()
		for last := ""; ; timer.Reset(2 * after) {
			select {
			case <-done:
				return
			case <-timer.C:
			}
			if text := describe(); text != last {
				fmt.Fprintln(w, text)
				last = text
			}
		}
	}()
	err := step()
	close(done)
	<-stopped
	return err
}

// progressWriter returns the writer of progress, which several goroutines may use. With -q it discards everything.
func (a *app) progressWriter() io.Writer {
	if a.quiet {
		return io.Discard
	}
	return &lockedWriter{w: a.text()}
}

// lockedWriter is a writer for several goroutines.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// runGoReporting returns runGo for commands that are reported on w if they take long.
func (a *app) runGoReporting(w io.Writer) func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
	return func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
		return a.reportSlow(w, goStep(args), func() error { return a.RunGo(ctx, dir, variables, out, errOut, args...) })
	}
}

// goStep describes what a go command does.
func goStep(args []string) string {
	switch {
	case len(args) > 0 && args[0] == "list":
		return "loading the packages that the project imports"
	case len(args) > 1 && args[0] == "mod":
		return "running 'go mod " + args[1] + "'"
	case len(args) > 0:
		return "running 'go " + args[0] + "'"
	}
	return "running go"
}
