//go:build unix

package controlplane

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// watchdogScript kills the process group $2 once the process $1 is gone, and ends with either.
const watchdogScript = `while kill -0 "$1" && kill -s 0 -- "-$2"; do sleep 1; done 2>/dev/null
kill -0 "$1" 2>/dev/null || kill -s KILL -- "-$2" 2>/dev/null`

// watchdog starts a shell that kills a process group when another process has died.
func watchdog(parent, group int) (*exec.Cmd, error) {
	cmd := exec.Command("/bin/sh", "-c", watchdogScript, "watchdog", strconv.Itoa(parent), strconv.Itoa(group))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, cmd.Start()
}

// guardGroup lets the group of a program end soon after this process does: the system tells the program
// at most, and not what that has started. Without a shell, these end by themselves, only later.
func guardGroup(p *os.Process) (release func()) {
	dog, err := watchdog(os.Getpid(), p.Pid)
	if err != nil {
		return func() {}
	}
	return func() {
		_ = dog.Process.Kill() // fails only if it has noticed by itself
		_ = dog.Wait()         // it was killed
	}
}

// interruptGroup interrupts a program that leads a process group, and all others in the group.
func interruptGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGINT) }

// killGroup kills what is left of the group of a program.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) } // fails if nothing is
