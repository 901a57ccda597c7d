package cluster

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Progress tells people what has been done, and how long it took.
type Progress struct {
	mu          sync.Mutex
	out         io.Writer
	start, last time.Time
}

// NewProgress writes to out.
func NewProgress(out io.Writer) *Progress {
	now := time.Now()
	return &Progress{out: out, start: now, last: now}
}

// Say tells what is going on.
func (p *Progress) Say(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "    %s\n", what)
}

// Done tells that something is there, when that is, and how long it took since the last was.
func (p *Progress) Done(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	fmt.Fprintf(p.out, "==> %6.1fs (+%.1fs) %s\n", now.Sub(p.start).Seconds(), now.Sub(p.last).Seconds(), what)
	p.last = now
}
