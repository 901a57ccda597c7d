package controlplane

import (
	"os"
	"os/exec"
	"syscall"
)

// serverAttributes makes the system kill a server when this process exits. Interrupts at the terminal do not reach the server; this
// process stops it.
func serverAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// guard does nothing: the parent death signal kills a program.
func guard(*Process) error { return nil }

// toolAttributes makes the system interrupt a tool when this process exits; go then stops its compilers.
func toolAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
}

func startInJob(cmd *exec.Cmd) (release func(), err error) { return func() {}, cmd.Start() }

func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }
