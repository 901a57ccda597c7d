package cmd

import (
	"context"
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
		a := newApp(&Env{Err: out, SlowAfter: time.Nanosecond, Environ: []string{"HOME=" + t.TempDir()}, Run: func(context.Context, Command) error {
			line = <-out
			return nil
		}}, "operon")
		if err := a.goTool().Start(t.Context(), t.TempDir(), nil, nil, nil, strings.Fields(args)...); err != nil || line != want {
			t.Errorf("go %s: got %v and %q, want %q", args, err, line, want)
		}
	}
}
