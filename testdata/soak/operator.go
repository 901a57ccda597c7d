package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// An operator is the program under test, which is started again when it exits, as in a pod.
type operator struct {
	env     *env
	args    []string
	marker  string
	logName string

	mu      sync.Mutex
	process *process
	log     *os.File
	// offset is where the log of the current process begins.
	offset int64
	// stopping is set while the program ends the process itself.
	stopping bool
	exits    int
}

// count returns the number of resources of a scenario, at most helm or ansible.
func (e *env) count(helm, ansible int) int {
	if e.flavor.name == "ansible" {
		return min(e.ansibleResources, ansible)
	}
	return min(e.resources, helm)
}

// begin creates the resources of a scenario, starts an operator and waits until all is as expected.
func (e *env) begin(ctx context.Context, helm, ansible int, when string) (created int, o *operator, err error) {
	created = e.count(helm, ansible)
	if err := e.createMany(ctx, created); err != nil {
		return 0, nil, err
	}
	if o, err = e.startOperator(ctx); err != nil {
		return 0, nil, err
	}
	return created, o, e.verify(ctx, when, convergence)
}

// startOperator starts an operator with more arguments.
func (e *env) startOperator(ctx context.Context, args ...string) (*operator, error) {
	o := &operator{env: e, args: args, logName: fmt.Sprintf("%s-%s-%d.log", e.scenario, e.flavor.name, len(e.operators))}
	o.marker = "SOAK_OPERATOR=" + o.logName
	var err error
	if o.log, err = os.OpenFile(filepath.Join(e.soak.dir, o.logName), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.operators = append(e.operators, o)
	e.mu.Unlock()
	return o, o.start(ctx)
}

// start starts the process, and another one when it exits unexpectedly.
func (o *operator) start(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.startLocked(ctx)
}

func (o *operator) startLocked(ctx context.Context) error {
	args := []string{
		o.env.runtime, o.env.flavor.operator, "run", "--kubeconfig", o.env.kubeconfig(),
		"--metrics-bind-address", "0", "--health-probe-bind-address", "0",
	}
	environ := append(os.Environ(), "WATCH_NAMESPACE="+o.env.namespace, o.marker)
	if o.env.flavor.name == "ansible" {
		args = append(args, "--run-directory", filepath.Join(o.env.dir, "runs", o.logName))
		environ = append(environ, "ANSIBLE_GATHERING=explicit")
	}
	end, err := o.log.Seek(0, 2)
	if err != nil {
		return err
	}
	p, err := startProcess(append(args, o.args...), environ, o.env.dir, o.log)
	if err != nil {
		return fmt.Errorf("starting the operator: %w", err)
	}
	o.process, o.offset, o.stopping = p, end, false
	go func() {
		<-p.done
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.stopping || o.process != p {
			return
		}
		o.exits++
		o.env.detailf("the operator exited: %s", p.cmd.ProcessState)
		o.mu.Unlock()
		ok := sleep(ctx, time.Second)
		o.mu.Lock()
		if ok && !o.stopping && o.process == p {
			if err := o.startLocked(ctx); err != nil {
				o.env.violatef("%v", err)
			}
		}
	}()
	return nil
}

// end ends the process with a signal.
func (o *operator) end(signal os.Signal) {
	o.mu.Lock()
	o.stopping = true
	p := o.process
	o.mu.Unlock()
	if p != nil {
		p.stop(signal)
	}
}

// kill ends the process as kill -9 does.
func (o *operator) kill() { o.end(syscall.SIGKILL) }

func (o *operator) pid() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.process.pid()
}

// unexpectedExits returns how often the process has exited by itself.
func (o *operator) unexpectedExits() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.exits
}

// output returns the log of the current process.
func (o *operator) output() string {
	o.mu.Lock()
	offset := o.offset
	o.mu.Unlock()
	data, err := os.ReadFile(o.log.Name())
	if err != nil || int64(len(data)) < offset {
		return ""
	}
	return string(data[offset:])
}

// isLeader reports whether the process reconciles.
func (o *operator) isLeader() bool { return strings.Contains(o.output(), "Starting workers") }

var panicLine = regexp.MustCompile(`(?m)^(panic:|fatal error:|WARNING: DATA RACE).*|Observed a panic.*`)

// panicked returns the first line of a panic in the log of all processes.
func (o *operator) panicked() string {
	data, err := os.ReadFile(o.log.Name())
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(panicLine.Find(data)))
}

// checkExits records a violation if the process has exited by itself.
func (o *operator) checkExits() {
	if n := o.unexpectedExits(); n > 0 {
		lines := strings.Split(strings.TrimSpace(o.output()), "\n")
		o.env.violatef("the operator exited %d times by itself; the end of %s: %s", n, o.logName, lines[len(lines)-1])
	}
}
