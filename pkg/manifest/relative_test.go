package manifest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// TestRelativeErrorsUnwrap checks that an error still has its cause when its paths are made relative.
func TestRelativeErrorsUnwrap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := relativeTo(dir, fmt.Errorf("%s: %w", filepath.Join(dir, "x.yaml"), context.Canceled))
	if err.Error() != "x.yaml: context canceled" || !errors.Is(err, context.Canceled) {
		t.Errorf("got %q, canceled: %t", err, errors.Is(err, context.Canceled))
	}
}
