package cmd

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// linesWritten receives what is written.
type linesWritten chan string

func (l linesWritten) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestReportSlow(t *testing.T) {
	t.Parallel()
	failure := errors.New("failure")
	out := make(linesWritten, 1)
	a := &app{Env: &Env{Err: out, SlowAfter: time.Hour}}
	if err := a.reportSlow(a.progressWriter(), "doing this", func() error { return failure }); !errors.Is(err, failure) || len(out) > 0 {
		t.Errorf("fast: got %v and %d lines", err, len(out))
	}
	a.SlowAfter = time.Nanosecond
	line := ""
	err := a.reportSlow(a.progressWriter(), "doing this", func() error {
		line = <-out
		return failure
	})
	if !errors.Is(err, failure) || line != "doing this\n" {
		t.Errorf("slow: got %v and %q", err, line)
	}
	a.quiet = true
	_ = a.reportSlow(a.progressWriter(), "doing this", func() error {
		time.Sleep(10 * time.Millisecond)
		return nil
	})
	if len(out) > 0 {
		t.Errorf("with -q: got %q", <-out)
	}
}

// Go commands are reported by what they do.
func TestSlowGoCommands(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"list -export ./...":   "loading the packages that the project imports\n",
		"mod tidy":             "running 'go mod tidy'\n",
		"get example.com/a@v1": "running 'go get'\n",
	} {
		out := make(linesWritten, 1)
		line := ""
		a := &app{Env: &Env{Err: out, SlowAfter: time.Nanosecond, Environ: []string{"HOME=" + t.TempDir()}, Run: func(context.Context, Command) error {
			line = <-out
			return nil
		}}}
		if err := a.goTool().Start(t.Context(), t.TempDir(), nil, nil, nil, strings.Fields(args)...); err != nil || line != want {
			t.Errorf("go %s: got %v and %q, want %q", args, err, line, want)
		}
	}
}
