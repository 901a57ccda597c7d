package controlplane

import (
	"os"
	"os/exec"
	"syscall"
)

// serverAttributes lets the system kill a server when this process dies, and keeps an interrupt from
// the terminal away from it: this process stops it in order.
func serverAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// guard does nothing: the death signal ends a program.
func guard(*process) error { return nil }

// toolAttributes let the system interrupt a tool when this process dies; go then ends its compilers.
func toolAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
}

func startInJob(cmd *exec.Cmd) (release func(), err error) { return func() {}, cmd.Start() }

func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }
