//go:build unix

package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// eventsFD is the file descriptor of the pipe for events in the supervisor and in ansible-runner.
const eventsFD = 5

// killWait is the time that a supervisor needs at most, after the grace period, to kill all processes.
const killWait = 15 * time.Second

// A supervised is a command that runs under a supervisor.
type supervised struct {
	// cmd is the supervisor, or nil if it is a fork of a warm interpreter.
	cmd *exec.Cmd
	// killWarm kills the warm interpreter.
	killWarm func()
	control  *os.File
	// pid is the supervisor's, 0 before it has started the command, or -1 after the end of a fork.
	pid    atomic.Int32
	timers []*time.Timer
	// events is read until its end, which is the end of ansible-runner.
	events *os.File
	// ended receives the result when all processes have ended.
	ended chan outcome
	ident string
}

// An outcome describes how a command ended.
type outcome struct {
	// code is the exit code, or the negative number of the signal that killed the command.
	code int
	// leftovers are the names of processes that the command left running and that were ended.
	leftovers []string
	err       error
	// unstarted reports whether the warm interpreter was killed before it started the command.
	unstarted bool
}

// pipes connect this process with a supervisor. The first four are passed on.
type pipes struct {
	controlRead, statusWrite, eventsWrite, outputWrite *os.File
	controlWrite, statusRead, eventsRead, outputRead   *os.File
}

func newPipes() (p *pipes, err error) {
	p = &pipes{}
	for _, pair := range [][2]**os.File{
		{&p.controlRead, &p.controlWrite}, {&p.statusRead, &p.statusWrite}, {&p.eventsRead, &p.eventsWrite}, {&p.outputRead, &p.outputWrite},
	} {
		if *pair[0], *pair[1], err = os.Pipe(); err != nil {
			p.closeRemote()
			p.closeLocal()
			return nil, err
		}
	}
	return p, nil
}

func (p *pipes) remote() []*os.File {
	return []*os.File{p.controlRead, p.statusWrite, p.eventsWrite, p.outputWrite}
}

func (p *pipes) closeRemote() { closeAll(p.remote()) }

func (p *pipes) closeLocal() {
	closeAll([]*os.File{p.controlWrite, p.statusRead, p.eventsRead, p.outputRead})
}

func closeAll(files []*os.File) {
	for _, file := range files {
		if file != nil {
			_ = file.Close()
		}
	}
}

// start starts a command with an environment under a supervisor, which removes dir, but not its last failed run, and
// TMPDIR if this process dies. The supervisor is a fork of
// the warm interpreter, if there is one, unless cold is true. The error is the cause if ctx or the Runner has ended.
func (r *Runner) start(ctx context.Context, argv, environ []string, ident, dir string, output *tail, cold bool) (*supervised, error) {
	p, err := newPipes()
	if err != nil {
		return nil, fmt.Errorf("starting ansible-runner: %w", err)
	}
	defer p.closeRemote()
	s := &supervised{control: p.controlWrite, events: p.eventsRead, ended: make(chan outcome, 1), ident: ident}
	if !cold {
		s.killWarm = r.warm.start(ctx, p)
	}
	if s.killWarm == nil {
		if err := r.stopped(ctx); err != nil {
			p.closeLocal()
			return nil, err
		}
		if s.cmd, err = r.startCold(p, environ); err != nil {
			p.closeLocal()
			return nil, fmt.Errorf("starting ansible-runner: %w", err)
		}
	}
	values := map[string]string{}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		values[name] = value
	}
	sent := make(chan error, 1)
	remove := append(removable(dir), artifactsOf(dir, ident), values["TMPDIR"])
	go func() {
		sent <- s.send(map[string]any{"argv": argv, "env": values, "remove": remove})
	}()
	go s.wait(p, output)
	// The supervisor may have been killed, so that nothing reads the request.
	p.closeRemote()
	if err := <-sent; errors.Is(err, os.ErrDeadlineExceeded) {
		s.kill()
	}
	return s, nil
}

// startCold starts a supervisor with an interpreter of its own.
func (r *Runner) startCold(p *pipes, environ []string) (*exec.Cmd, error) {
	cmd := exec.Command(r.env.python, "-I", "-S", filepath.Join(r.root.own, "supervisor.py"))
	cmd.Dir = r.root.own
	cmd.Env = environ
	cmd.ExtraFiles = p.remote()[:3]
	cmd.Stdout, cmd.Stderr = p.outputWrite, p.outputWrite
	// Interrupts at the terminal are for the operator.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, cmd.Start()
}

func (s *supervised) send(message map[string]any) error {
	data, err := json.Marshal(message)
	if err == nil {
		err = s.control.SetWriteDeadline(time.Now().Add(killWait)) // a process that hangs does not read
	}
	if err == nil {
		_, err = s.control.Write(append(data, '\n'))
	}
	return err
}

// kill kills the supervisor, or the warm interpreter if there is no supervisor yet. Other runs without one start new interpreters then.
func (s *supervised) kill() {
	switch pid := s.pid.Load(); {
	case pid > 0:
		_ = syscall.Kill(int(pid), syscall.SIGKILL)
	case s.cmd != nil:
		_ = s.cmd.Process.Kill()
	case pid == 0:
		s.killWarm()
	}
}

// close releases the resources of a command that has ended.
func (s *supervised) close() {
	for _, timer := range s.timers {
		timer.Stop()
	}
	_ = s.control.Close()
}

// stop ends all processes: with SIGTERM, and with SIGKILL after the grace period.
func (s *supervised) stop(grace time.Duration) {
	_ = s.send(map[string]any{"stop": grace.Seconds()}) // fails if they have ended
	timer := time.AfterFunc(grace+killWait, s.kill)
	s.timers = append(s.timers, timer)
}

// wait reads what the supervisor reports until it exits.
func (s *supervised) wait(p *pipes, output *tail) {
	defer p.statusRead.Close()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(output, p.outputRead)
	}()
	var result outcome
	complete := false
	for lines := bufio.NewScanner(p.statusRead); lines.Scan(); {
		var message struct {
			Error     string
			PID       int32
			Code      *int
			Leftovers []string
		}
		if json.Unmarshal(lines.Bytes(), &message) != nil {
			continue
		}
		if message.Error != "" {
			result.err = fmt.Errorf("starting ansible-runner: %s", message.Error)
		}
		if message.PID != 0 {
			s.pid.Store(message.PID)
		}
		if message.Code != nil {
			complete, result.code, result.leftovers = true, *message.Code, message.Leftovers
		}
	}
	result.unstarted = s.cmd == nil && s.pid.Swap(-1) == 0 && result.err == nil
	var err error
	if s.cmd != nil {
		err = s.cmd.Wait()
	}
	if !complete && result.err == nil {
		killMarked(s.ident)
		result.err = errSupervisor
		if err != nil {
			result.err = fmt.Errorf("%w: %w", result.err, err)
		}
	}
	select {
	case <-copied:
	case <-time.After(time.Second): // a process that could not be killed
	}
	_ = p.outputRead.Close()
	s.ended <- result
}

// startGuard starts the process that removes the directories of this operator if it is killed. The returned function ends it;
// if not all directories have been removed, it removes them.
func startGuard(python, script, root, own string) (end func(removed bool), err error) {
	cmd := exec.Command(python, "-I", "-S", script, root, own)
	cmd.Dir = "/"
	cmd.Env = []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting python: %w", err)
	}
	return func(removed bool) {
		if removed {
			_, _ = stdin.Write([]byte("\n"))
		}
		_ = stdin.Close()
		_ = cmd.Wait()
	}, nil
}

// privateDir returns a directory that only the current user can write to: dir itself or, if it is shared with others, as volumes of pods
// are, a directory of this user in it.
func privateDir(dir string) (string, error) {
	info, stat, err := statDir(dir)
	if err != nil || isPrivate(info, stat) {
		return dir, err
	}
	if !isTrusted(int(stat.Uid), os.Getuid(), os.Getgid()) {
		return "", fmt.Errorf("directory of runs %s: must belong to this user or to root; remove it or use another one", dir)
	}
	own := filepath.Join(dir, fmt.Sprintf("uid-%d", os.Getuid()))
	if err := os.Mkdir(own, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("directory of runs: %w; use another one", err)
	}
	info, stat, err = statDir(own)
	if err == nil && !isPrivate(info, stat) {
		err = fmt.Errorf("directory of runs %s: must belong to this user and not be writable by others; remove it or use another one", own)
	}
	return own, err
}

// statDir returns the properties of a directory that is not a link.
func statDir(dir string) (fs.FileInfo, *syscall.Stat_t, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("directory of runs: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() {
		return nil, nil, fmt.Errorf("directory of runs %s: not a directory", dir)
	}
	return info, stat, nil
}

func isPrivate(info fs.FileInfo, stat *syscall.Stat_t) bool {
	return int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}

// isTrusted reports whether the owner of a directory, who can replace all directories in it, is trusted. Users of the group 0 other than
// root exist in containers, where they can have a random identifier.
func isTrusted(owner, uid, gid int) bool { return owner == 0 || owner == uid || gid == 0 && uid != 0 }
