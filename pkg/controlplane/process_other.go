//go:build !linux && !windows

package controlplane

import (
	"os"
	"os/exec"
	"syscall"
)

// serverAttributes keeps an interrupt from the terminal away from a server. There is no signal for
// the death of a parent here; Operon's own build watches for it.
func serverAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// guard lets a program end soon after this process does.
func guard(p *process) error {
	dog, err := watchdog(os.Getpid(), p.cmd.Process.Pid)
	if err != nil {
		return err
	}
	go func() {
		<-p.done
		_ = dog.Process.Kill() // fails only if it has noticed by itself
		_ = dog.Wait()         // it was killed
	}()
	return nil
}

func toolAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func startInJob(cmd *exec.Cmd) (release func(), err error) { return func() {}, cmd.Start() }

func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }
