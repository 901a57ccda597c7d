package runner

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// warmPause is the time after the start of a warm interpreter until it is started again, if it was killed.
const warmPause = time.Minute

// warm is a process that has loaded ansible-runner, Ansible and libraries of modules, and whose forks are the supervisors of runs.
type warm struct {
	r *Runner

	mu      sync.Mutex
	process *warmProcess
	started time.Time
}

type warmProcess struct {
	cmd    *exec.Cmd
	socket *os.File
	ready  chan struct{} // closed when it is ready or has ended
	ended  chan struct{}
	usable bool
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
	w := &warm{r: r}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.launch()
	return w
}

// launch starts the process. Errors are logged: runs start new interpreters then.
func (w *warm) launch() {
	w.started = time.Now()
	process, err := startWarm(w.r)
	if err != nil {
		w.r.config.Log.Error(err, "runs start new interpreters")
		return
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
	cmd.Dir, cmd.Env, cmd.ExtraFiles = r.root.own, r.env.runEnviron(r.env.withoutProxy()), []*os.File{remote}
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
	p := &warmProcess{cmd: cmd, socket: local, ready: make(chan struct{}), ended: make(chan struct{})}
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
		if !p.usable {
			select {
			case <-r.closed:
			default:
				r.config.Log.Info("runs start new interpreters, because Ansible cannot be loaded in advance", "cause", message.Error, "output", plain(output.String()), "error", err)
			}
			close(p.ready)
		}
		close(p.ended)
	}()
	return p, nil
}

// start makes a fork the supervisor with pipes. It reports whether that is possible.
func (w *warm) start(p *pipes) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process != nil {
		select {
		case <-w.process.ended:
			_ = w.process.socket.Close()
			usable := w.process.usable
			w.process = nil
			if usable && time.Since(w.started) > warmPause {
				w.launch()
			}
		default:
		}
	}
	if w.process == nil {
		return false
	}
	<-w.process.ready
	if !w.process.usable {
		return false
	}
	var fds []int
	for _, file := range p.remote() {
		fds = append(fds, int(file.Fd()))
	}
	return syscall.Sendmsg(int(w.process.socket.Fd()), []byte{0}, syscall.UnixRights(fds...), nil, syscall.MSG_NOSIGNAL) == nil
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
	select {
	case <-w.process.ended:
	case <-time.After(killWait): // while it loads Ansible, it does not read the socket
		_ = w.process.cmd.Process.Kill()
		<-w.process.ended
	}
	w.process = nil
}
