package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// buildProgress is the progress of a build.
type buildProgress struct {
	mu       sync.Mutex
	stage    string
	packages int
	total    int
	// began is when the stage before the packages was last seen, after the start of the build.
	began time.Duration
}

// start begins a stage of total packages; 0 if unknown.
func (w *buildProgress) start(stage string, total int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stage, w.packages, w.total = stage, 0, total
}

// countPackage reports whether a line of go build -v is the path of a package, and counts it. Unlike go's messages, paths have no
// spaces.
func (w *buildProgress) countPackage(line string) bool {
	if strings.Contains(line, " ") {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.packages++
	return true
}

// state describes the progress, elapsed after the start of the build. What is left is estimated from the packages so far.
func (w *buildProgress) state(elapsed time.Duration) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.total == 0 {
		w.began = elapsed
		return w.stage
	}
	// Go does not print cached packages, so a build can end with a lower count.
	done := min(w.packages, w.total)
	state := fmt.Sprintf("%s: %d of %d packages", w.stage, done, w.total)
	if left := w.total - done; done >= estimateFrom && left > 0 {
		minutes := ((elapsed - w.began) / time.Duration(done) * time.Duration(left)).Minutes()
		state += fmt.Sprintf(", about %d min left", 1+int(minutes))
	}
	return state
}

// estimateFrom is how many packages must be compiled before the rest is estimated.
const estimateFrom = 100

// reportRegularly reports a state, which depends on the time since the start, at every heartbeat until ctx ends or stop is called.
func (o *EnsureOptions) reportRegularly(ctx context.Context, state func(elapsed time.Duration) string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		for elapsed := heartbeat; ; elapsed += heartbeat {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				o.reportf("%s (%s)", state(elapsed), elapsed)
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// lineCounter counts the lines written to it.
type lineCounter struct{ lines int }

func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte("\n"))
	return len(p), nil
}
