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

	"github.com/operon-sdk/operon/testdata/console"
)

const (
	// startTimeout limits the wait for the expected output of a background command, and endTimeout the wait for its exit.
	// Both allow for slow machines.
	startTimeout = 10 * time.Minute
	endTimeout   = 2 * time.Minute
)

// background is a command that was left running.
type background struct {
	line string
	c    *exec.Cmd
	// done is closed when the command has exited with err.
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

// await waits until the command has printed the expected lines. It is an error if the command exits before.
func (b *background) await(want []string, timeout time.Duration) error {
	if len(want) == 0 {
		return nil
	}
	want = append(slices.Clone(want), console.Omitted) // more output may follow
	deadline := time.After(timeout)
	for {
		output := b.output()
		err := console.Compare(want, output[:strings.LastIndex(output, "\n")+1])
		if err == nil {
			return nil
		}
		if !errors.Is(err, console.ErrLacking) {
			return fmt.Errorf("%s: %w", b.line, err)
		}
		select {
		case <-b.done:
			if err := console.Compare(want, b.output()); err != nil {
				return fmt.Errorf("%s: %w; the command has exited: %v", b.line, err, b.err)
			}
		case <-deadline:
			return fmt.Errorf("%s: %w after %s", b.line, err, timeout)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// start starts a command that runs until interrupt or stop. It returns when the command has printed the expected output.
func (s *shell) start(st console.Step) error {
	b := &background{line: st.Line, c: s.command(st), done: make(chan struct{})}
	b.c.Stdout, b.c.Stderr = b, b
	if err := b.c.Start(); err != nil {
		return fmt.Errorf("%s: %w", st.Line, err)
	}
	go func() {
		b.err = b.c.Wait()
		close(b.done)
	}()
	s.running = append(s.running, b)
	started := time.Now()
	err := b.await(st.Want, startTimeout)
	s.finish(st.Line, b.output(), time.Since(started))
	return err
}

// interrupt sends SIGINT to the last background command, as Ctrl-C does. The command must succeed, print the expected lines at
// the end, and leave no temporary files.
func (s *shell) interrupt(want []string) error {
	if len(s.running) == 0 {
		return errors.New("no command to interrupt")
	}
	b := s.running[len(s.running)-1]
	if err := b.c.Process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("%s: %w", b.line, err)
	}
	select {
	case <-b.done:
	case <-time.After(endTimeout):
		return fmt.Errorf("%s has not exited %s after the interrupt", b.line, endTimeout)
	}
	if b.err != nil {
		return fmt.Errorf("%s: %w", b.line, b.err)
	}
	if err := console.Compare(append([]string{console.Omitted}, want...), b.output()); err != nil {
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

// stop kills the commands that are still running, and prints their output if a step failed.
func (s *shell) stop(failed bool) {
	for _, b := range s.running {
		_ = b.c.Process.Kill() // an error means that it has already exited
		<-b.done
		if failed {
			fmt.Fprintf(s.out, "\n==> output of %s\n%s", b.line, b.output())
		}
	}
}
