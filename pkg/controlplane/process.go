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

// parentVariable tells Operon's own build which process it must not outlive; see
// templates/controlplane/parent_unix.go.tmpl.
const parentVariable = "OPERON_CONTROLPLANE_PARENT"

// process is a program that runs until it is stopped, and not longer than this process.
type process struct {
	name string
	tail *tail
	// done is closed when the program has ended; err is how.
	done chan struct{}
	err  error
	cmd  *exec.Cmd
}

// startProcess starts a server. Its output goes to log, which may be nil.
func startProcess(name, path string, args, environ []string, dir string, log io.Writer) (*process, error) {
	p := &process{name: name, tail: &tail{log: log}, done: make(chan struct{})}
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir = dir
	p.cmd.Env = environ
	p.cmd.Stdout, p.cmd.Stderr = p.tail, p.tail
	p.cmd.WaitDelay = 2 * time.Second
	p.cmd.SysProcAttr = serverAttributes()
	started := make(chan error)
	go func() {
		// Linux ends the program when the thread that started it ends, so that thread has to stay.
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

// failure describes the end of a program that has ended.
func (p *process) failure() *Failure {
	<-p.done
	err := p.err
	if err == nil {
		err = errEnded
	}
	lines := p.lines()
	return &Failure{Program: p.name, Err: err, Lines: lines, Cause: likelyCause(err, lines)}
}

// lines are the last of the log, with paths as seen from the data folder: its own is gone when they
// are read.
func (p *process) lines() []string {
	lines := p.tail.lines()
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, p.cmd.Dir+string(filepath.Separator), "")
	}
	return lines
}

// kill ends the program at once and waits for it. Its data is thrown away, so nothing is lost.
func (p *process) kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill() // fails only for one that has ended
	<-p.done
}

// serverEnviron is environ without what would reconfigure the servers behind our back (etcd reads
// ETCD_*), and with the parent that they must not outlive.
func serverEnviron(environ []string) []string {
	// With Go's default of 100, a server spends a quarter of its start in the garbage collector.
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

// runTied runs a program to its end. It is interrupted, with the programs that it started, when ctx ends;
// all of them are killed soon after this process is.
func runTied(ctx context.Context, command Command) error {
	cmd := exec.CommandContext(ctx, command.Name, command.Args...)
	cmd.Dir, cmd.Env = command.Dir, command.Env
	cmd.Stdout, cmd.Stderr = command.Stdout, command.Stderr
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
				// The go command does not wait for its compilers and linkers then.
				killGroup(cmd.Process)
			}
		}
		ended <- err
	}()
	return <-ended
}
