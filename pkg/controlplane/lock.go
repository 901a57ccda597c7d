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

// lock takes the lock under which control planes are downloaded and built, one at a time: two builds
// at once would take twice as long each. It waits for another process, and says so. The system
// releases the lock of a process that died.
func (o *EnsureOptions) lock(ctx context.Context) (unlock func(), err error) {
	dir := o.buildsDir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the control plane's cache: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	holder := filepath.Join(dir, "lock.holder")
	locked, err := lock.TryLock()
	if err == nil && !locked {
		o.say("waiting for %s, which is preparing the control plane", readHolder(holder))
		locked, err = lock.TryLockContext(ctx, 200*time.Millisecond)
	}
	if err != nil || !locked {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("waiting for the lock on the control plane's cache: %w", err)
	}
	// The note is for people only; the lock holds without it.
	_ = os.WriteFile(holder, fmt.Appendf(nil, "process %d\n", os.Getpid()), 0o644)
	return func() {
		_ = os.Remove(holder)
		_ = lock.Close()
	}, nil
}

// readHolder names the holder of the lock as far as is known.
func readHolder(file string) string {
	data, err := os.ReadFile(file)
	name := strings.TrimSpace(string(data))
	if err != nil || name == "" {
		return "another process"
	}
	return name
}
