package main

import (
	"io"
	"os"
	"os/exec"
	"runtime"
)

// A process is a program that ends with this one.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// startProcess starts a program whose output goes to a writer.
func startProcess(args, environ []string, dir string, out io.Writer) (*process, error) {
	p := &process{cmd: exec.Command(args[0], args[1:]...), done: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = environ, dir, out, out
	p.cmd.SysProcAttr = attributes()
	started := make(chan error)
	go func() {
		// The system kills the program when this thread ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // the state has the exit code
			close(p.done)
		}
	}()
	return p, <-started
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// stop sends a signal, waits for the end and returns the exit code.
func (p *process) stop(signal os.Signal) int {
	_ = p.cmd.Process.Signal(signal) // fails if it has ended
	<-p.done
	return p.cmd.ProcessState.ExitCode()
}
