package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	// warmPause is the time between two starts of a warm interpreter, if it was killed.
	warmPause = time.Minute
	// warmLoad is the time within which a warm interpreter loads Ansible. Runs do not wait longer for it.
	warmLoad = 30 * time.Second
)

// warm is a process that has loaded ansible-runner, Ansible and libraries of modules, and whose forks are the supervisors of runs.
type warm struct {
	r           *Runner
	pause, load time.Duration

	mu sync.Mutex
	// process is the last one that was started, which may have ended.
	process  *warmProcess
	launched time.Time
	// loaded reports whether a process has loaded Ansible, so that it is started again.
	loaded bool
}

type warmProcess struct {
	cmd     *exec.Cmd
	started time.Time
	socket  *os.File
	ready   chan struct{} // closed when it is ready or has ended
	ended   chan struct{}
	usable  bool
}

// newWarm starts the process, unless ansible-playbook has another interpreter than ansible-runner.
func newWarm(r *Runner) *warm {
	if r.config.Cold {
		return nil
	}
	playbook := r.env.lookPath("ansible-playbook")
	python, flags := r.env.interpreter(r.env.runner)
	other, otherFlags := r.env.interpreter(playbook)
	if python == "" || python != other || !slices.Equal(flags, otherFlags) {
		r.config.Log.Info("runs start new interpreters, because ansible-runner and ansible-playbook do not use the same one",
			"ansible-runner", python, "ansible-playbook", other)
		return nil
	}
	w := &warm{r: r, pause: warmPause, load: warmLoad}
	w.launch()
	return w
}

// launch starts the process. Errors are logged: runs start new interpreters then.
func (w *warm) launch() {
	w.launched = time.Now()
	process, err := startWarm(w.r)
	if err != nil {
		w.r.config.Log.Error(err, "runs start new interpreters")
		return
	}
	if w.process != nil {
		_ = w.process.socket.Close()
	}
	w.process = process
}

func startWarm(r *Runner) (*warmProcess, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("creating a socket: %w", err)
	}
	local, remote := os.NewFile(uintptr(fds[0]), "warm"), os.NewFile(uintptr(fds[1]), "warm")
	defer remote.Close()
	cmd := exec.Command(r.env.python, slices.Concat(r.env.flags, []string{filepath.Join(r.root.own, "warm.py")}, r.env.flags)...)
	variables := map[string]string{"ANSIBLE_LOCAL_TEMP": r.root.own} // also if it is killed while it loads Ansible
	maps.Copy(variables, r.env.withoutProxy())
	cmd.Dir, cmd.Env, cmd.ExtraFiles = r.root.own, r.env.runEnviron(variables), []*os.File{remote}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	output := &tail{limit: 4096}
	cmd.Stderr, cmd.WaitDelay = output, time.Second
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_ = local.Close()
		return nil, fmt.Errorf("starting %s: %w", r.env.python, err)
	}
	p := &warmProcess{cmd: cmd, started: time.Now(), socket: local, ready: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		var message struct {
			Ready bool
			Error string
		}
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if json.Unmarshal(lines.Bytes(), &message) == nil && message.Ready {
				p.usable = true
				close(p.ready)
			}
		}
		err := cmd.Wait()
		select {
		case <-r.closed:
		default:
			problem := "runs start new interpreters, because Ansible cannot be loaded in advance"
			if p.usable {
				problem = "the interpreter that has loaded Ansible ended; runs start new ones until it is started again"
			}
			r.config.Log.Info(problem, "cause", message.Error, "output", plain(output.String()), "error", err)
		}
		if !p.usable {
			close(p.ready)
		}
		close(p.ended)
	}()
	return p, nil
}

// current returns the process, which may have ended, or nil. It starts one that has ended again, after a pause.
func (w *warm) current() *warmProcess {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process == nil {
		return nil
	}
	select {
	case <-w.process.ended:
		w.loaded = w.loaded || w.process.usable
		if w.loaded && time.Since(w.launched) > w.pause {
			w.launch()
		}
	default:
	}
	return w.process
}

// start makes a fork the supervisor with pipes, and returns a function that kills the process. It waits until the process is ready. The
// function is nil if there will be no fork, also if ctx or the Runner ends.
func (w *warm) start(ctx context.Context, p *pipes) (kill func()) {
	if w == nil {
		return nil
	}
	process := w.current()
	if process == nil {
		return nil
	}
	timer := time.NewTimer(time.Until(process.started.Add(w.load)))
	defer timer.Stop()
	select {
	case <-process.ready:
	case <-ctx.Done():
	case <-w.r.closed:
	case <-timer.C:
	}
	w.mu.Lock() // the socket must not be closed
	defer w.mu.Unlock()
	select {
	case <-process.ready:
	default:
		return nil
	}
	if !process.usable {
		return nil
	}
	var fds []int
	for _, file := range p.remote() {
		fds = append(fds, int(file.Fd()))
	}
	if syscall.Sendmsg(int(process.socket.Fd()), []byte{0}, syscall.UnixRights(fds...), nil, syscall.MSG_NOSIGNAL|syscall.MSG_DONTWAIT) != nil {
		return nil
	}
	return func() { _ = process.cmd.Process.Kill() }
}

// close ends the process.
func (w *warm) close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process == nil {
		return
	}
	_ = w.process.socket.Close()
	_ = w.process.cmd.Process.Kill() // while it loads Ansible, it does not read the socket
	<-w.process.ended
}
