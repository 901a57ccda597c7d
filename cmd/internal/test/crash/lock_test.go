package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestCommandsAtOnce starts 20 commands in one project: each waits for the others.
func TestCommandsAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clitest.MustRun(t, dir, "init", "--domain", "example.com", "--repo", "example.com/crash", "--project-name", "crash")
	const commands = 20
	errs := make([]error, commands)
	var wg sync.WaitGroup
	for i := range commands {
		wg.Go(func() {
			errs[i] = operonProcess(dir, 0, "create", "api", "--group", "cache", "--version", "v1", "--kind", fmt.Sprintf("Kind%c", 'A'+i),
				"--resource", "--controller", "--make=false")
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "cmd", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range commands {
		if setup := fmt.Sprintf("Kind%cReconciler{", 'A'+i); strings.Count(string(data), setup) != 1 {
			t.Errorf("cmd/main.go has %s %d times", setup, strings.Count(string(data), setup))
		}
	}
}

// TestInterruptEndsTheWait interrupts a command that waits for another one.
func TestInterruptEndsTheWait(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot send an interrupt to one process")
	}
	dir := t.TempDir()
	clitest.MustRun(t, dir, "init", "--domain", "example.com", "--repo", "example.com/crash", "--project-name", "crash")
	lock, err := worktree.Lock(t.Context(), clitest.Location(dir), worktree.LockOptions{Command: "operon rename"})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, os.Args[0], "create", "api", "--group", "cache", "--version", "v1", "--kind", "Memcached", "--make=false")
	c.Dir, c.Env, c.Stderr = dir, append(os.Environ(), clitest.KillVariable+"=0"), &noticeWriter{to: &stderr, notice: "waiting for", act: func() {
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
	}}
	err = c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		t.Errorf("error %v", err)
	}
	want := fmt.Sprintf("waiting for operon rename (PID %d), which is changing this project (2s)\nerror: interrupted\n", os.Getpid())
	if stderr.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &stderr, want)
	}
}

// A noticeWriter calls a function once when a notice is written.
type noticeWriter struct {
	to     *bytes.Buffer
	notice string
	act    func()
}

func (w *noticeWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if w.act != nil && strings.Contains(w.to.String(), w.notice) {
		w.act()
		w.act = nil
	}
	return n, err
}
