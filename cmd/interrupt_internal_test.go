package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
)

// TestRewrittenErrorsUnwrap checks that an error whose text was rewritten still has its cause.
func TestRewrittenErrorsUnwrap(t *testing.T) {
	t.Parallel()
	cause := &kube.ConfigError{Err: fmt.Errorf("/home/me/.kube/config: %w", fs.ErrPermission)}
	err := withGivenNames(cause, []namedFile{{"/home/me/.kube/config", "~/.kube/config"}})
	if _, ok := errors.AsType[*kube.ConfigError](err); !ok || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("the cause of %v is lost", err)
	}
	if got, want := err.Error(), "reading the kubeconfig: ~/.kube/config: permission denied"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestEndSignals checks that a closed terminal ends the program unless it was started with nohup. It is not parallel
// because signals are those of the process.
func TestEndSignals(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("the test itself runs with SIGHUP ignored, as with nohup")
	}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !slices.Contains(EndSignals(), s) {
			t.Errorf("%v does not end the program", s)
		}
	}
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if slices.Contains(EndSignals(), os.Signal(syscall.SIGHUP)) {
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
			&usageError{err: fmt.Errorf("--image: %w", withGivenNames(cause, nil))},
			errors.Join(&usageError{err: errors.New("--version is required")}, cause),
		} {
			var out bytes.Buffer
			a := &app{Env: &Env{Err: &out}}
			if code := a.report(err); code != exitFailed {
				t.Errorf("%v: exit code %d\n%s", err, code, out.String())
			}
		}
	}
}
