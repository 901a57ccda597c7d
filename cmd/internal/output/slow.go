package output

import (
	"cmp"
	"fmt"
	"io"
	"sync"
	"time"
)

// slowAfter is the default of Env.SlowAfter.
const slowAfter = 2 * time.Second

// Slow runs a step, and prints its description if it takes long.
func (p *Printer) Slow(description string, step func() error) error {
	return p.Counting(func() string { return description }, step)
}

// maxPause is the longest pause between two lines of Counting.
const maxPause = 30 * time.Second

// Counting is Slow for a step whose description counts. It is printed again from time to time, less and less often, if it has changed.
// Nothing is printed after it has returned.
func (p *Printer) Counting(describe func() string, step func() error) error {
	w, after := p.ProgressWriter(), cmp.Or(p.SlowAfter, slowAfter)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		timer := time.NewTimer(after)
		defer timer.Stop()
		pause := after
		for last := ""; ; timer.Reset(pause) {
			select {
			case <-done:
				return
			case <-timer.C:
			}
			if text := describe(); text != last {
				fmt.Fprintln(w, text)
				last = text
				pause = min(2*pause, max(maxPause, after))
			}
		}
	}()
	err := step()
	close(done)
	<-stopped
	return err
}

// ProgressWriter returns the writer of progress, which several goroutines may use. With -q it discards everything.
func (p *Printer) ProgressWriter() io.Writer {
	if p.Quiet {
		return io.Discard
	}
	return &lockedWriter{&p.progress, p.Text()}
}

// lockedWriter is a writer for several goroutines.
type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
