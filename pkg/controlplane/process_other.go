//go:build !linux && !windows

package controlplane

import (
	"os"
	"os/exec"
	"syscall"
)

// serverAttributes prevents that interrupts at the terminal reach a server. This system has no parent death signal; Operon's build
// polls its parent.
func serverAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// guard kills a program soon after this process has exited.
func guard(p *Process) error {
	dog, err := watchdog(os.Getpid(), p.cmd.Process.Pid)
	if err != nil {
		return err
	}
	go func() {
		<-p.done
		_ = dog.Process.Kill() // fails only if it has exited
		_ = dog.Wait()         // it was killed
	}()
	return nil
}

func toolAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func startInJob(cmd *exec.Cmd) (release func(), err error) { return func() {}, cmd.Start() }

func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }
