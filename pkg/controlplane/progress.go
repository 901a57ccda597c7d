package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// buildProgress reports the progress of a build.
type buildProgress struct {
	reportf func(format string, args ...any)

	mu       sync.Mutex
	stage    string
	packages int
	total    int
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

// report reports the progress at every heartbeat until ctx ends.
func (w *buildProgress) report(ctx context.Context) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for elapsed := heartbeat; ; elapsed += heartbeat {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.reportf("%s (%s)", w.state(), elapsed)
		}
	}
}

func (w *buildProgress) state() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.total == 0 {
		return w.stage
	}
	// Go does not print cached packages, so a build can end with a lower count.
	return fmt.Sprintf("%s: %d of %d packages", w.stage, min(w.packages, w.total), w.total)
}

// lineCounter counts the lines written to it.
type lineCounter struct{ lines int }

func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte("\n"))
	return len(p), nil
}
