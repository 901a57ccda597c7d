package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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

// await waits until the command has printed the lines, which it must do before it ends.
func (b *background) await(want []string, timeout time.Duration) error {
	if len(want) == 0 {
		return nil
	}
	want = append(slices.Clone(want), omitted) // it goes on printing
	deadline := time.After(timeout)
	for {
		output := b.output()
		err := compare(want, output[:strings.LastIndex(output, "\n")+1])
		if err == nil {
			return nil
		}
		if !errors.Is(err, errLacking) {
			return fmt.Errorf("%s: %w", b.line, err)
		}
		select {
		case <-b.done:
			if err := compare(want, b.output()); err != nil {
				return fmt.Errorf("%s: %w; it ended: %v", b.line, err, b.err)
			}
		case <-deadline:
			return fmt.Errorf("%s: %w after %s", b.line, err, timeout)
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

// interrupt does what Ctrl-C does to the last command in the background: it must succeed, its output must end with the
// lines, and it must leave no files.
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
	if err := compare(append([]string{omitted}, want...), b.output()); err != nil {
		return fmt.Errorf("%s: %w", b.line, err)
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
