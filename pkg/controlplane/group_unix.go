//go:build unix

package controlplane

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// watchdogScript kills the process group $2 after the process $1 has exited, and exits with either.
const watchdogScript = `while kill -0 "$1" && kill -s 0 -- "-$2"; do sleep 1; done 2>/dev/null
kill -0 "$1" 2>/dev/null || kill -s KILL -- "-$2" 2>/dev/null`

// watchdog starts a shell that kills a process group after another process has exited.
func watchdog(parent, group int) (*exec.Cmd, error) {
	cmd := exec.Command("/bin/sh", "-c", watchdogScript, "watchdog", strconv.Itoa(parent), strconv.Itoa(group))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, cmd.Start()
}

// guardGroup kills the group of a program soon after this process exits: the system signals at most the program, not what it has
// started. Without a shell, these exit by themselves later.
func guardGroup(p *os.Process) (release func()) {
	dog, err := watchdog(os.Getpid(), p.Pid)
	if err != nil {
		return func() {}
	}
	return func() {
		_ = dog.Process.Kill() // fails only if it has exited
		_ = dog.Wait()         // it was killed
	}
}

// interruptGroup interrupts a program that leads a process group, and all others in the group.
func interruptGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGINT) }

// killGroup kills the remaining group of a program.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) } // fails if it is empty
