package cmd

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/gotool"
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
		a := newApp(&Env{Err: out, SlowAfter: time.Nanosecond, Environ: []string{"HOME=" + t.TempDir()}, Run: func(_ context.Context, c Command) error {
			line = <-out
			if c.Args[0] == "env" {
				_, err := io.WriteString(c.Out, "{}")
				return err
			}
			return nil
		}}, "operon")
		if _, err := a.goTool().Run(t.Context(), gotool.Command{Dir: t.TempDir(), Args: strings.Fields(args)}); err != nil || line != want {
			t.Errorf("go %s: got %v and %q, want %q", args, err, line, want)
		}
	}
}
