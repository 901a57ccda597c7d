//go:build unix

package controlplane

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestWatchdog checks that a process group ends with the process that it belongs to, and not before.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	start := func() *exec.Cmd {
		cmd := exec.Command("/bin/sh", "-c", "sleep 300 & wait")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		return cmd
	}
	parent, child := start(), start()
	dog, err := watchdog(parent.Process.Pid, child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	go func() { ended <- child.Wait() }()
	select {
	case <-ended:
		t.Fatal("the child ended while its parent lived")
	case <-time.After(1500 * time.Millisecond):
	}
	if err := syscall.Kill(-parent.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	go func() { ended <- dog.Wait() }()
	for range 2 {
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatal("the child outlives its parent, or the watchdog both")
		}
	}
}
