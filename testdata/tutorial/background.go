package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

const (
	// startTimeout bounds the wait for what a command in the background must print, endTimeout the wait
	// for its end. They are for machines that have much else to do.
	startTimeout = 10 * time.Minute
	endTimeout   = 2 * time.Minute
)

// background is a command that was left running.
type background struct {
	line string
	c    *exec.Cmd
	// done is closed when it has ended; err is how.
	done chan struct{}
	err  error

	mu  sync.Mutex
	log bytes.Buffer
}

func (b *background) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.Write(p)
}

func (b *background) output() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String()
}

// await waits until the command has printed all lines, which it must do before it ends.
func (b *background) await(want []string, timeout time.Duration) error {
	deadline := time.After(timeout)
	for {
		absent := missing(want, b.output())
		if absent == "" {
			return nil
		}
		select {
		case <-b.done:
			if absent = missing(want, b.output()); absent != "" {
				return fmt.Errorf("%s ended (%v) and did not print %q", b.line, b.err, absent)
			}
		case <-deadline:
			return fmt.Errorf("%s has not printed %q after %s", b.line, absent, timeout)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// start leaves a command running until it is interrupted, or until stop. It returns when the command has
// printed what it must.
func (s *shell) start(st step) error {
	b := &background{line: st.line, c: s.command(st), done: make(chan struct{})}
	b.c.Stdout, b.c.Stderr = b, b
	if err := b.c.Start(); err != nil {
		return fmt.Errorf("%s: %w", st.line, err)
	}
	go func() {
		b.err = b.c.Wait()
		close(b.done)
	}()
	s.running = append(s.running, b)
	return b.await(st.want, startTimeout)
}

// printed is the value of a variable in what the last command in the background says about it.
func (s *shell) printed(variable string) (string, error) {
	if len(s.running) == 0 {
		return "", fmt.Errorf("nothing runs that could print %s", variable)
	}
	last := s.running[len(s.running)-1]
	m := regexp.MustCompile(regexp.QuoteMeta(variable) + `=(\S+)`).FindStringSubmatch(last.output())
	if m == nil {
		return "", fmt.Errorf("%s does not print %s", last.line, variable)
	}
	return m[1], nil
}

// interrupt does what Ctrl-C does to the last command in the background: it must end well, print the
// lines, and leave no files.
func (s *shell) interrupt(want []string) error {
	if len(s.running) == 0 {
		return errors.New("there is nothing to interrupt")
	}
	b := s.running[len(s.running)-1]
	if err := b.c.Process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("%s: %w", b.line, err)
	}
	select {
	case <-b.done:
	case <-time.After(endTimeout):
		return fmt.Errorf("%s has not ended %s after the interrupt", b.line, endTimeout)
	}
	if b.err != nil {
		return fmt.Errorf("%s: %w", b.line, b.err)
	}
	if absent := missing(want, b.output()); absent != "" {
		return fmt.Errorf("%s did not print %q", b.line, absent)
	}
	left, err := filepath.Glob(filepath.Join(s.tmp, "operon-*"))
	if err != nil || len(left) > 0 {
		return fmt.Errorf("%s left %v (%v)", b.line, left, err)
	}
	fmt.Fprint(s.out, b.output())
	s.running = s.running[:len(s.running)-1]
	return nil
}

// stop ends what start left running, and shows what it said if that was not the plan.
func (s *shell) stop(failed bool) {
	for _, b := range s.running {
		_ = b.c.Process.Kill() // an error means that it has ended by itself
		<-b.done
		if failed {
			fmt.Fprintf(s.out, "\n==> what %s printed\n%s", b.line, b.output())
		}
	}
}
