package output

import (
	"errors"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/env"
)

// linesWritten receives what is written.
type linesWritten chan string

func (l linesWritten) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestSlow(t *testing.T) {
	t.Parallel()
	failure := errors.New("failure")
	out := make(linesWritten, 1)
	p := &Printer{Env: &env.Env{Err: out, SlowAfter: time.Hour}}
	if err := p.Slow("doing this", func() error { return failure }); !errors.Is(err, failure) || len(out) > 0 {
		t.Errorf("fast: got %v and %d lines", err, len(out))
	}
	p.SlowAfter = time.Nanosecond
	line := ""
	err := p.Slow("doing this", func() error {
		line = <-out
		return failure
	})
	if !errors.Is(err, failure) || line != "doing this\n" {
		t.Errorf("slow: got %v and %q", err, line)
	}
	p.Quiet = true
	_ = p.Slow("doing this", func() error {
		time.Sleep(10 * time.Millisecond)
		return nil
	})
	if len(out) > 0 {
		t.Errorf("with -q: got %q", <-out)
	}
}
