package source

import (
	"context"
	"fmt"
	"runtime/metrics"
	"sync/atomic"
	"time"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// The limits of a rendering. A template can loop for years or repeat a string until the memory is full, and templates cannot be
// interrupted. Helm has no limits.
const (
	maxRenderTime   = 30 * time.Second
	maxRenderMemory = 512 << 20 // of the process, in bytes
)

// limitPeriod is the time between two looks at the memory. A template can allocate a gigabyte in a fifth of a second.
const limitPeriod = 10 * time.Millisecond

// limits watches a rendering.
type limits struct {
	time    time.Duration
	memory  uint64
	current atomic.Pointer[string]
}

// markName is the function of templates that records the template that is executed.
const markName = "operonTemplate"

// mark makes each template of a chart and its dependencies call the function markName at its start, on its first line.
func mark(c *chart.Chart) {
	for _, template := range c.Templates {
		template.Data = fmt.Appendf(nil, "{{%s %q}}%s", markName, c.ChartFullPath()+"/"+template.Name, template.Data)
	}
	for _, dependency := range c.Dependencies() {
		mark(dependency)
	}
}

// enter is the function markName.
func (l *limits) enter(template string) string {
	l.current.Store(&template)
	return ""
}

// wait waits for a rendering. The error names the template that was executed when a limit was exceeded; the rendering then continues
// until the process ends.
func (l *limits) wait(ctx context.Context, done <-chan struct{}) error {
	timeout := time.NewTimer(l.time)
	defer timeout.Stop()
	look := time.NewTicker(limitPeriod)
	defer look.Stop()
	used := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout.C:
			return l.exceeded(fmt.Sprintf("takes more than %s", l.time))
		case <-look.C:
			metrics.Read(used)
			if used[0].Value.Uint64()+used[1].Value.Uint64() > l.memory {
				return l.exceeded(fmt.Sprintf("needs more than %d MiB", l.memory>>20))
			}
		}
	}
}

func (l *limits) exceeded(problem string) error {
	name := "the chart"
	if template := l.current.Load(); template != nil {
		name = *template
	}
	return fmt.Errorf("%s: rendering %s; a template that loops or repeats text without a limit cannot be used", name, problem)
}
