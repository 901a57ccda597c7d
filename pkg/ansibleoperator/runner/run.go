package runner

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// Run runs a playbook or a role. The error is nil if the playbook reached its end, whatever its tasks did, if it requested the time
// of the next run, or if it exceeded its time. If ctx is canceled, Run ends all processes and returns the cause. The result isn't nil
// if the run was started. Runs of a custom resource are sequential.
func (r *Runner) Run(ctx context.Context, request Request) (*Result, error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	defer r.runs.Done()
	dir, err := r.root.path(request.GVK, request.Key)
	if err != nil {
		return nil, err
	}
	result := &Result{Ident: strings.ToLower(rand.Text()), Started: time.Now()}
	argv, err := r.command(dir, result.Ident, request)
	if err != nil {
		return nil, err
	}
	unlock, err := r.lock(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	defer func() {
		if !r.root.isForeign(dir) {
			_ = os.Remove(filepath.Join(dir, kubeconfigFile))
		}
	}()
	if err := r.writeInputs(dir, request); err != nil {
		return nil, err
	}
	log := r.runLog(request, result.Ident)
	err = r.supervise(ctx, argv, dir, request, result, log, r.config.Cold)
	result.Duration = time.Since(result.Started)
	logEnd(log, request, result, err)
	if r.config.Output != nil {
		r.printOutput(dir, request, result.Ident)
	}
	var recordErr error
	if (err != nil || result.Failed()) && r.stopped(ctx) == nil {
		recordErr = recordFailed(dir, result.Ident, request)
	}
	if diskErr := errors.Join(recordErr, linkLatest(dir, result.Ident), r.disk.add(dir, result.Ident)); diskErr != nil {
		r.config.Log.Error(describeFull(diskErr, r.root.dir), "cannot limit the artifacts of runs", "directory", dir)
	}
	return result, err
}

// sizeInterval is the time between two checks of the size of the artifacts of a run.
const sizeInterval = 5 * time.Second

// supervise runs a command to its end and collects the result.
func (r *Runner) supervise(ctx context.Context, argv []string, dir string, request Request, result *Result, logger logr.Logger, cold bool) error {
	if err := r.stopped(ctx); err != nil {
		return stopError(request, err)
	}
	output := &tail{limit: 16 << 10}
	temporary, removeTemporary, err := r.temporary(result.Ident)
	if err != nil {
		return err
	}
	defer func() {
		if err := removeTemporary(); err != nil {
			r.config.Log.Error(err, "cannot remove the temporary files of a run", "directory", dir)
		}
	}()
	child, err := r.start(ctx, argv, r.env.runEnviron(r.additional(result.Ident, temporary)), result.Ident, dir, output, cold)
	if err != nil {
		return err
	}
	defer child.close()
	collected := &events{}
	before := readMemory(os.DirFS("/"))
	log := r.eventLog(request, logger)
	requeue := make(chan struct{}, 1)
	done := make(chan error, 1)
	go func() {
		defer child.events.Close()
		done <- read(child.events, func(e event) {
			log(e)
			if collected.add(e) {
				select {
				case requeue <- struct{}{}:
				default:
				}
			}
		})
	}()
	var expired <-chan time.Time
	if request.Timeout > 0 {
		timer := time.NewTimer(request.Timeout)
		defer timer.Stop()
		expired = timer.C
	}
	ended, stopped := r.await(ctx, child, artifactsOf(dir, result.Ident), requeue, expired)
	if err := <-done; err != nil {
		return fmt.Errorf("reading the events of ansible-runner: %w", err)
	}
	if ended.unstarted && !cold && stopped == nil {
		return r.supervise(ctx, argv, dir, request, result, logger, true)
	}
	// The only trace of a process for a task that was killed, other than of its module.
	const deadWorker = "worker was found in a dead state"
	if collected.stats == nil && strings.Contains(readTail(filepath.Join(artifactsOf(dir, result.Ident), "stdout"), 4096), deadWorker) {
		collected.signal = sigkill
	}
	result.Killed = killedBy(collected, ended, stopped)
	explain := func(signal int) string { return before.explain(signal, readMemory(os.DirFS("/"))) }
	unexplained, err := r.complete(request, result, collected, ended, stopped, explain)
	if unexplained {
		text := lastOutput(dir, result.Ident, output)
		r.logOutput(request, result.Ident, text)
		if place := errorPlace(text); place != "" && err != nil {
			err = fmt.Errorf("%w (%s)", err, place)
		}
	}
	return err
}

// errSupervisor is the error of a run whose supervisor was killed.
var errSupervisor = errors.New("the supervisor of ansible-runner ended unexpectedly")

// errExpired is the cause of the end of a run that exceeded its time limit.
var errExpired = errors.New("the run exceeded its time limit")

// errArtifacts is the cause of the end of a run that writes too much.
var errArtifacts = errors.New("ended, because its artifacts alone exceed the limit")

// await waits for the end of all processes of a run. It ends them when the run requests that, exceeds its limits, is canceled or the
// Runner is closed. The error is the first cause, as later ones find a run that is about to end; it is nil if the run requested its end.
func (r *Runner) await(ctx context.Context, child *supervised, artifacts string, requeue <-chan struct{}, expired <-chan time.Time) (ended outcome, stopped error) {
	sizes := time.NewTicker(sizeInterval)
	defer sizes.Stop()
	for {
		select {
		case ended := <-child.ended:
			return ended, nil
		case <-requeue:
		case <-expired:
			stopped = errExpired
		case <-ctx.Done():
			stopped = context.Cause(ctx)
		case <-r.closed:
			stopped = errClosed
		case <-sizes.C:
			if !r.disk.exceeds(artifacts) {
				continue
			}
			stopped = fmt.Errorf("%w of %d bytes for all runs", errArtifacts, r.config.MaxBytes)
		}
		child.stop(r.config.GracePeriod)
		return <-child.ended, stopped
	}
}

// stopped returns the cause if ctx or the Runner has ended.
func (r *Runner) stopped(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.closed:
		return errClosed
	default:
		return nil
	}
}

// stopError returns the error of a run that was stopped.
func stopError(request Request, cause error) error {
	return fmt.Errorf("run of %s %s: %w", request.GVK.Kind, request.Key, cause)
}

// complete fills in the result of a run whose processes have ended. It reports whether the output of the run says more about the cause.
// The error doesn't contain it: more people can read a status than a log.
func (r *Runner) complete(request Request, result *Result, collected *events, ended outcome, stopped error, explain func(signal int) string) (unexplained bool, err error) {
	if len(ended.leftovers) > 0 && stopped == nil {
		r.config.Log.Info("ended processes that the run left in the background", "kind", request.GVK.Kind, "namespace", request.Key.Namespace,
			"name", request.Key.Name, "job", result.Ident, "processes", strings.Join(ended.leftovers, ", "))
	}
	result.Stats = collected.soFar
	if collected.stats != nil {
		result.Stats, result.Completion = *collected.stats, collected.completion
		result.SetStats, result.HiddenStats = collected.setStats.split()
	}
	switch {
	case collected.requeue != nil && stopped == nil:
		result.RequeueAfter = collected.requeue
		return false, nil
	case collected.stats != nil && !result.TimedOut() && ended.err == nil && (stopped == nil || len(collected.messages(explain)) == 0):
		// Tasks that were ended have failed, but not because of the playbook.
		result.Failures = collected.messages(explain)
		if ended.code != 0 && len(result.Failures) == 0 {
			result.Failures = []string{fmt.Sprintf("ansible-runner ended with %s after the playbook; see the log of the operator", describeExit(ended.code))}
			return true, nil
		}
		return false, nil
	case result.TimedOut():
		result.Failures = append(collected.messages(explain), fmt.Sprintf("%v of %s %s, after %s", errExpired, request.Timeout, collected.task, collected.counts()))
		return false, nil
	case stopped != nil:
		return false, stopError(request, stopped)
	case ended.err != nil && !errors.Is(ended.err, errSupervisor):
		return true, ended.err
	case ended.err != nil:
		return true, fmt.Errorf("%w %s, after %s: it was probably killed: %s", ended.err, collected.task, collected.counts(), explain(sigkill))
	}
	return true, r.noStats(collected, ended.code, explain)
}

// noStats returns the error of a playbook that ended without its last event.
func (r *Runner) noStats(collected *events, code int, explain func(signal int) string) error {
	if err := isFull(r.root.dir); err != nil {
		return err
	}
	const problem = "the playbook did not run to its end"
	program, signal := "ansible-playbook", collected.signal
	if code < 0 {
		program, signal = "ansible-runner", -code
	}
	switch {
	case signal != 0:
		return fmt.Errorf("%s: %s was killed by %s %s, after %s: %s", problem, program, signalName(signal), collected.task, collected.counts(), explain(signal))
	case !collected.started && code == 0:
		return errors.New("ansible-runner reported no events: its Python does not load plugins from PYTHONPATH; start it without the options -E and -I")
	case collected.task == nil:
		return fmt.Errorf("%s: %s before the first task; see the log of the operator", problem, describeExit(code))
	}
	return fmt.Errorf("%s: %s %s, after %s; see the log of the operator", problem, describeExit(code), collected.task, collected.counts())
}

// describeExit returns an exit code with its meaning for ansible-playbook.
func describeExit(code int) string {
	meaning := map[int]string{
		1: "error", 4: "invalid playbook or role, or no host reachable", 5: "invalid options", 250: "unexpected exception",
	}[code]
	if meaning == "" {
		return fmt.Sprintf("exit code %d", code)
	}
	return fmt.Sprintf("exit code %d (%s)", code, meaning)
}

// lastOutput returns the last lines of the output of a run.
func lastOutput(dir, ident string, output *tail) string {
	if text := plain(readTail(filepath.Join(artifactsOf(dir, ident), "stdout"), 4096)); text != "" {
		return text
	}
	return plain(output.String())
}

// errorPosition matches where Ansible finds an error: before 2.19, and since.
var errorPosition = lazyregexp.New(`(?:The error appears to (?:be|have been) in '([^'\n]+)': line (\d+), column (\d+)|Origin: ([^\n]+?):(\d+):(\d+))`)

// errorPlace returns the file, line and column of an error in a playbook or role, such as roles/app/tasks/main.yml:3:5, or "". The rest of
// the output isn't for the status.
func errorPlace(output string) string {
	m := errorPosition.FindStringSubmatch(output)
	if m == nil {
		return ""
	}
	file := filepath.ToSlash(m[1] + m[4])
	if _, inRoles, ok := strings.Cut(file, "/roles/"); ok {
		file = "roles/" + inRoles
	} else {
		file = path.Base(file)
	}
	return file + ":" + m[2] + m[5] + ":" + m[3] + m[6]
}

// logOutput logs the last lines of the output of a run, without secrets, whatever else of it is logged.
func (r *Runner) logOutput(request Request, ident, text string) {
	if text == "" {
		return
	}
	// Versions and paths that Ansible prints before an error do not explain it.
	if i := strings.Index("\n"+text, "\nERROR! "); i >= 0 {
		text = text[i:]
	}
	r.config.Log.Info("the last output of a run that ended early", "kind", request.GVK.Kind, "namespace", request.Key.Namespace, "name", request.Key.Name,
		"job", ident, "output", request.redact(text))
}

// printOutput prints the output of a run as a whole, because runs are concurrent.
func (r *Runner) printOutput(dir string, request Request, ident string) {
	file, err := os.Open(filepath.Join(artifactsOf(dir, ident), "stdout"))
	if err != nil {
		return // ansible-runner did not start
	}
	defer file.Close()
	r.outputs.Lock()
	defer r.outputs.Unlock()
	fmt.Fprintf(r.config.Output, "--- output of run %s of %s %s\n", ident, request.GVK.Kind, request.Key)
	for reader := bufio.NewReader(file); err == nil; {
		var line string
		line, err = reader.ReadString('\n')
		_, _ = io.WriteString(r.config.Output, request.redact(line))
	}
	fmt.Fprintf(r.config.Output, "--- end of run %s\n", ident)
}
