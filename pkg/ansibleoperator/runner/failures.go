package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A failure is a task that failed on a host.
type failure struct {
	message string
	task    *runningTask
	// signal is what killed a process of the task, or 0.
	signal int
}

// A runningTask is a task that has started.
type runningTask struct{ name, module, host string }

func newRunningTask(d eventData) *runningTask {
	task := &runningTask{name: d.Name, module: d.ResolvedAction, host: d.Host}
	if task.name == "" {
		task.name = d.Task
	}
	if task.module == "" {
		task.module = d.TaskAction
	}
	return task
}

// maxTaskName limits the name of a task in a message, in bytes.
const maxTaskName = 200

// String names the task for an error.
func (t *runningTask) String() string {
	if t == nil {
		return "before the first task"
	}
	var details []string
	if t.module != "" {
		details = append(details, "module "+t.module)
	}
	if t.host != "" {
		details = append(details, "host "+t.host)
	}
	text := fmt.Sprintf("in the task %q", shorten(t.name, maxTaskName))
	if len(details) > 0 {
		text += " (" + strings.Join(details, ", ") + ")"
	}
	return text
}

// addFailure adds a task that failed, unless its failure is ignored.
func (c *events) addFailure(e event) {
	if e.Data.IgnoreErrors != nil && *e.Data.IgnoreErrors {
		c.soFar.Ignored++
		return
	}
	if e.Event == "runner_on_unreachable" {
		c.soFar.Unreachable++
	} else {
		c.soFar.Failures++
	}
	if c.failures == nil {
		c.failures = map[string][]failure{}
	}
	if _, ok := c.failures[e.Data.Host]; !ok {
		c.hosts = append(c.hosts, e.Data.Host)
	}
	task := newRunningTask(eventData{Task: e.Data.Task, TaskAction: e.Data.TaskAction, ResolvedAction: e.Data.ResolvedAction, Host: e.Data.Host})
	c.failures[e.Data.Host] = append(c.failures[e.Data.Host], failure{failureMessage(e.Data), task, taskSignal(e.Data.Res)})
}

// messages returns the messages of failed tasks that were not rescued. Ansible does not report with a failed task whether it is
// rescued later, but it counts only the others as failures: a host ends with the last of them. The function explain returns the likely
// cause of a signal.
func (c *events) messages(explain func(signal int) string) []string {
	var messages []string
	for _, host := range c.hosts {
		failures := c.failures[host]
		if n := c.failed[host]; n < len(failures) {
			failures = failures[len(failures)-n:]
		}
		for _, f := range failures {
			messages = append(messages, f.message)
			if f.signal != 0 {
				messages = append(messages, fmt.Sprintf("a process was killed by %s %s: %s", signalName(f.signal), f.task, explain(f.signal)))
			}
		}
	}
	return append(messages, c.invalid...)
}

// counts returns the numbers of tasks for an error, as far as they are known.
func (c *events) counts() string {
	s := c.soFar
	return fmt.Sprintf("ok=%d changed=%d failed=%d", s.OK, s.Changed, s.Failures+s.Unreachable)
}

// taskSignal returns the signal that killed a process of a task with a result, or 0.
func taskSignal(data json.RawMessage) int {
	var result taskResult
	_ = json.Unmarshal(data, &result)
	if signal := result.signal(); signal != 0 {
		return signal
	}
	for _, data := range result.Results {
		var item taskResult
		if json.Unmarshal(data, &item) == nil && item.signal() != 0 {
			return item.signal()
		}
	}
	return 0
}

func (t taskResult) signal() int {
	var code int
	if json.Unmarshal(t.RC, &code) != nil {
		return 0
	}
	return signalOf(code)
}

// killedBy returns Result.Killed of a run that has ended.
func killedBy(collected *events, ended outcome, stopped error) string {
	switch {
	case errors.Is(stopped, errExpired):
		return KilledByTimeout
	case errors.Is(stopped, errArtifacts):
		return KilledByArtifacts
	case stopped != nil || collected.stats != nil || collected.requeue != nil:
		return ""
	case errors.Is(ended.err, errSupervisor):
		return KilledBySupervisor
	case ended.err != nil:
		return ""
	case ended.code < 0:
		return signalName(-ended.code)
	case collected.signal != 0:
		return signalName(collected.signal)
	}
	return ""
}
