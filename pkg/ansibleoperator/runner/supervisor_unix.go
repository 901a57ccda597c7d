//go:build unix

package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// eventsFD is the file descriptor of the pipe for events in the supervisor and in ansible-runner.
const eventsFD = 5

// killWait is the time that a supervisor needs at most, after the grace period, to kill all processes.
const killWait = 15 * time.Second

// A supervised is a command that runs under a supervisor.
type supervised struct {
	cmd     *exec.Cmd
	control *os.File
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
	// leftovers is the number of processes that the command left running and that were ended.
	leftovers int
	err       error
}

// start starts a command with an environment under a supervisor, which removes dir if this process dies.
func (r *Runner) start(argv, environ []string, ident, dir string, output *tail) (*supervised, error) {
	var files [6]*os.File // read and write ends of control, status and events
	closeAll := func() {
		for _, file := range files {
			if file != nil {
				_ = file.Close()
			}
		}
	}
	for i := 0; i < len(files); i += 2 {
		var err error
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			closeAll()
			return nil, fmt.Errorf("starting ansible-runner: %w", err)
		}
	}
	cmd := exec.Command(r.env.python, "-I", "-S", filepath.Join(r.root.own, "supervisor.py"))
	cmd.Dir = r.root.own
	cmd.Env = environ
	cmd.ExtraFiles = []*os.File{files[0], files[3], files[5]}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = time.Second // if the supervisor is killed, other processes may keep its output open
	// Interrupts at the terminal are for the operator.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err := cmd.Start()
	for _, i := range []int{0, 3, 5} {
		_ = files[i].Close()
		files[i] = nil
	}
	s := &supervised{cmd: cmd, control: files[1], events: files[4], ended: make(chan outcome, 1), ident: ident}
	if err == nil {
		if err = s.send(map[string]any{"argv": argv, "remove": []string{dir}}); err != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	if err != nil {
		closeAll()
		return nil, fmt.Errorf("starting ansible-runner: %w", err)
	}
	go s.wait(files[2])
	return s, nil
}

func (s *supervised) send(message map[string]any) error {
	data, err := json.Marshal(message)
	if err == nil {
		_, err = s.control.Write(append(data, '\n'))
	}
	return err
}

// stop ends all processes: with SIGTERM, and with SIGKILL after the grace period.
func (s *supervised) stop(grace time.Duration) {
	_ = s.send(map[string]any{"stop": grace.Seconds()}) // fails if they have ended
	time.AfterFunc(grace+killWait, func() { _ = s.cmd.Process.Kill() })
}

// wait reads what the supervisor reports until it exits.
func (s *supervised) wait(status *os.File) {
	defer status.Close()
	var result outcome
	complete := false
	for lines := bufio.NewScanner(status); lines.Scan(); {
		var message struct {
			Error     string
			Code      *int
			Leftovers int
		}
		if json.Unmarshal(lines.Bytes(), &message) != nil {
			continue
		}
		if message.Error != "" {
			result.err = fmt.Errorf("starting ansible-runner: %s", message.Error)
		}
		if message.Code != nil {
			complete, result.code, result.leftovers = true, *message.Code, message.Leftovers
		}
	}
	err := s.cmd.Wait()
	if !complete && result.err == nil {
		killMarked(s.ident)
		result.err = fmt.Errorf("the supervisor of ansible-runner ended unexpectedly: %w", errors.Join(err))
		if err == nil {
			result.err = errors.New("the supervisor of ansible-runner ended unexpectedly")
		}
	}
	_ = s.control.Close()
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

// checkOwner returns an error unless only the current user can write to a directory.
func checkOwner(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("directory of runs: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Getuid() || info.Mode().Perm()&(fs.ModePerm&0o022) != 0 {
		return fmt.Errorf("directory of runs %s: must belong to this user and not be writable by others; remove it or use another one", dir)
	}
	return nil
}
