package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/diag"
)

// TestEndSignals checks that a closed terminal ends the program unless it was started with nohup. It is not parallel
// because signals go to the whole process.
func TestEndSignals(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("the test itself runs with SIGHUP ignored, as with nohup")
	}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !slices.Contains(env.EndSignals(), s) {
			t.Errorf("%v does not end the program", s)
		}
	}
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if slices.Contains(env.EndSignals(), os.Signal(syscall.SIGHUP)) {
		t.Error("SIGHUP ends a program that ignores it")
	}
}

// TestInterruptionExits checks that an interruption exits with 1 whatever it is wrapped in: it is no wrong use.
func TestInterruptionExits(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{context.Canceled, errInterrupted} {
		for _, err := range []error{
			cause,
			&usageError{err: cause, command: "operon bundle"},
			diag.Usage(fmt.Errorf("--image: %w", cause)),
			errors.Join(diag.Usage(errors.New("--version is required")), cause),
		} {
			var out bytes.Buffer
			a := newApp(&Env{Err: &out}, "operon")
			if code := a.report(err); code != exitFailed {
				t.Errorf("%v: exit code %d\n%s", err, code, out.String())
			}
		}
	}
}
