package kube

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

// TestRewrittenErrorsUnwrap checks that an error whose text was rewritten still has its cause.
func TestRewrittenErrorsUnwrap(t *testing.T) {
	t.Parallel()
	cause := &configError{Err: fmt.Errorf("/home/me/.kube/config: %w", fs.ErrPermission)}
	err := Files{Paths: []string{"/home/me/.kube/config"}, Names: []string{"~/.kube/config"}}.withNames(cause)
	if _, ok := errors.AsType[*configError](err); !ok || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("the cause of %v is lost", err)
	}
	if got, want := err.Error(), "reading the kubeconfig: ~/.kube/config: permission denied"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
