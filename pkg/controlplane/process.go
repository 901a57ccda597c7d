package controlplane

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// parentVariable is the variable with the process ID after whose exit Operon's build exits, too; see
// templates/controlplane/parent_unix.go.tmpl.
const parentVariable = "OPERON_CONTROLPLANE_PARENT"

// A Process is a program that runs until it is stopped or this process exits.
type Process struct {
	name string
	tail *tail
	// done is closed when the program has exited; err is the result.
	done chan struct{}
	err  error
	cmd  *exec.Cmd
}

// startProcess starts a server. Its output goes to log, which may be nil.
func startProcess(name, path string, args, environ []string, dir string, log io.Writer) (*Process, error) {
	p := &Process{name: name, tail: &tail{log: log}, done: make(chan struct{})}
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir = dir
	p.cmd.Env = environ
	p.cmd.Stdout, p.cmd.Stderr = p.tail, p.tail
	p.cmd.WaitDelay = 2 * time.Second
	p.cmd.SysProcAttr = serverAttributes()
	started := make(chan error)
	go func() {
		// Linux kills the program when the thread that started it exits.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		release, err := startInJob(p.cmd)
		started <- err
		if err != nil {
			return
		}
		p.err = p.cmd.Wait()
		release()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, &Failure{Program: name, Err: err, Cause: likelyCause(err, nil)}
	}
	return p, nil
}

// Failure waits for the exit of the program and describes it with the last lines of its log.
func (p *Process) Failure() *Failure {
	<-p.done
	err := p.err
	if err == nil {
		err = errEnded
	}
	lines := p.lines()
	return &Failure{Program: p.name, Err: err, Lines: lines, Cause: likelyCause(err, lines)}
}

// lines returns the last lines of the log, with paths relative to the data directory, which is removed before they are read.
func (p *Process) lines() []string {
	lines := p.tail.lines()
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, p.cmd.Dir+string(filepath.Separator), "")
	}
	return lines
}

// kill kills the program and waits for its exit. Its data is temporary.
func (p *Process) kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill() // fails only if it has exited
	<-p.done
}

// serverEnviron returns environ without variables that configure the servers (etcd reads ETCD_*), and with parentVariable.
func serverEnviron(environ []string) []string {
	// With Go's default of 100, a server spends a quarter of its start-up in the garbage collector.
	kept := []string{"GOGC=200"}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		switch upper := strings.ToUpper(name); {
		case strings.HasPrefix(upper, "ETCD_"), strings.HasSuffix(upper, "_PROXY"), upper == parentVariable:
		default:
			kept = append(kept, entry)
		}
	}
	return append(kept, parentVariable+"="+strconv.Itoa(os.Getpid()))
}

// RunTied runs a program and waits for it. The program and those that it started are interrupted when ctx ends, and killed soon
// after this process has exited.
func RunTied(ctx context.Context, command Command) error {
	cmd := exec.CommandContext(ctx, command.Name, command.Args...)
	cmd.Dir, cmd.Env = command.Dir, command.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = command.Stdin, command.Stdout, command.Stderr
	cmd.Cancel = func() error { return interruptGroup(cmd.Process) }
	cmd.WaitDelay = 10 * time.Second
	cmd.SysProcAttr = toolAttributes()
	ended := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		release, err := startInJob(cmd)
		if err == nil {
			unguard := guardGroup(cmd.Process)
			err = cmd.Wait()
			unguard()
			release()
			if ctx.Err() != nil {
				// The go command does not wait for its compilers and linkers.
				killGroup(cmd.Process)
			}
		}
		ended <- err
	}()
	return <-ended
}
