package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// lock acquires the lock of downloads and builds, as concurrent builds would take twice as long each. It reports that it waits for
// another process. The system releases the lock of a process that has exited.
func (o *EnsureOptions) lock(ctx context.Context) (unlock func(), err error) {
	dir := o.buildsDir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the control plane's cache: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	holder := filepath.Join(dir, "lock.holder")
	locked, err := lock.TryLock()
	if err == nil && !locked {
		o.reportf("waiting for %s, which is preparing the control plane", readHolder(holder))
		locked, err = lock.TryLockContext(ctx, 200*time.Millisecond)
	}
	if err != nil || !locked {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("waiting for the lock on the control plane's cache: %w", err)
	}
	// The file is only for messages; the lock does not need it.
	_ = os.WriteFile(holder, fmt.Appendf(nil, "process %d\n", os.Getpid()), 0o644)
	return func() {
		_ = os.Remove(holder)
		_ = lock.Close()
	}, nil
}

// readHolder returns the name of the holder of the lock.
func readHolder(file string) string {
	data, err := os.ReadFile(file)
	name := strings.TrimSpace(string(data))
	if err != nil || name == "" {
		return "another process"
	}
	return name
}
