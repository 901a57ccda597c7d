package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// event is the part of an event of ansible-runner that this package reads.
type event struct {
	Event   string    `json:"event"`
	Created string    `json:"created"`
	Stdout  string    `json:"stdout"`
	Data    eventData `json:"event_data"`
}

type eventData struct {
	Name           string          `json:"name"`
	Task           string          `json:"task"`
	TaskAction     string          `json:"task_action"`
	ResolvedAction string          `json:"resolved_action"`
	Role           string          `json:"role"`
	Host           string          `json:"host"`
	IgnoreErrors   *bool           `json:"ignore_errors"`
	Res            json.RawMessage `json:"res"`
	Signal         int             `json:"signal"`
	// ArtifactData are the values of the module set_stats.
	ArtifactData json.RawMessage `json:"artifact_data"`

	OK       counts `json:"ok"`
	Changed  counts `json:"changed"`
	Skipped  counts `json:"skipped"`
	Failures counts `json:"failures"`
	Ignored  counts `json:"ignored"`
	Rescued  counts `json:"rescued"`
	Dark     counts `json:"dark"`
}

// counts are numbers by host.
type counts map[string]int

// UnmarshalJSON reads counts. Old versions of Ansible write 0 instead of an object.
func (c *counts) UnmarshalJSON(data []byte) error {
	var values map[string]json.RawMessage
	if json.Unmarshal(data, &values) != nil {
		return nil
	}
	*c = counts{}
	for host, value := range values {
		var n int
		if json.Unmarshal(value, &n) == nil {
			(*c)[host] = n
		}
	}
	return nil
}

func (c counts) sum() (n int) {
	for _, value := range c {
		n += value
	}
	return n
}

// events collects the result of a run from its events.
type events struct {
	started    bool // the plugin was loaded
	stats      *Stats
	completion time.Time
	failures   map[string][]failure // by host
	hosts      []string
	failed     counts
	requeue    *time.Duration
	invalid    []string // messages about results of requeue_after
	// task is the last task that has started, and so far has the numbers of tasks until the playbook reports its own.
	task     *runningTask
	soFar    Stats
	setStats setStats
	// signal is what killed ansible-playbook, or 0.
	signal int
}

// maxEventBytes limits one event. The plugin shortens longer ones.
const maxEventBytes = 8 << 20

// read reads events until the end and calls handle for each. It skips lines that are not events.
func read(r io.Reader, handle func(event)) error {
	reader := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(reader)
		var e event
		if len(line) > 0 && json.Unmarshal(line, &e) == nil && e.Event != "" {
			handle(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine returns a line, or nothing for one that is too long.
func readLine(reader *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		part, err := reader.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > maxEventBytes {
			long, line = true, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// add adds an event. It reports whether the event requests the end of the run.
func (c *events) add(e event) (end bool) {
	switch e.Event {
	case "operon_start":
		c.started = true
	case "playbook_on_stats":
		d := e.Data
		c.stats = &Stats{
			OK: d.OK.sum(), Changed: d.Changed.sum(), Skipped: d.Skipped.sum(), Failures: d.Failures.sum(),
			Ignored: d.Ignored.sum(), Rescued: d.Rescued.sum(), Unreachable: d.Dark.sum(),
		}
		c.setStats.values = decodeStats(d.ArtifactData)
		c.failed = counts{}
		for _, numbers := range []counts{d.Failures, d.Dark} {
			for host, n := range numbers {
				c.failed[host] += n
			}
		}
		if created, err := time.Parse("2006-01-02T15:04:05.999999", strings.TrimSuffix(e.Created, "+00:00")); err == nil {
			c.completion = created
		}
	case "operon_killed":
		c.signal = e.Data.Signal
	case "playbook_on_task_start", "playbook_on_handler_task_start":
		c.task = newRunningTask(e.Data)
	case "runner_on_failed", "runner_on_async_failed", "runner_on_unreachable":
		c.addFailure(e)
	case "runner_on_skipped":
		c.soFar.Skipped++
	case "runner_on_ok":
		c.soFar.OK++
		c.setStats.add(e.Data)
		var result taskResult
		if json.Unmarshal(e.Data.Res, &result) == nil && result.isTrue(result.Changed) {
			c.soFar.Changed++
		}
		return c.addRequeue(e.Data)
	}
	return false
}

// isRequeueAfter reports whether a task runs the module requeue_after.
func isRequeueAfter(d eventData) bool {
	for _, name := range []string{d.TaskAction, d.ResolvedAction} {
		if name == "requeue_after" || name == "operator_sdk.util.requeue_after" {
			return true
		}
	}
	return false
}

func (c *events) addRequeue(d eventData) (end bool) {
	if !isRequeueAfter(d) {
		return false
	}
	var result struct {
		Period *json.RawMessage `json:"period"`
	}
	var period string
	if json.Unmarshal(d.Res, &result) != nil || result.Period == nil || json.Unmarshal(*result.Period, &period) != nil {
		return false // a task in check mode or a loop has no period
	}
	duration, err := time.ParseDuration(period)
	if err != nil || duration < 0 {
		c.invalid = append(c.invalid, fmt.Sprintf("requeue_after: period %q: must be a duration such as 30s or 5m", shorten(period, 100)))
		return false
	}
	c.requeue = &duration
	return true
}

// maxMessage limits a message in bytes. A status of a custom resource contains several.
const maxMessage = 4096

// failureMessage returns the message in the result of a failed task.
func failureMessage(d eventData) string {
	var result taskResult
	_ = json.Unmarshal(d.Res, &result)
	var items []string
	for _, data := range result.Results {
		var item taskResult
		if json.Unmarshal(data, &item) == nil && (item.isTrue(item.Failed) || item.Censored != "") {
			items = append(items, item.message())
		}
	}
	message := result.message()
	if message == "" {
		message = fmt.Sprintf("task %q failed", d.Task)
	}
	if len(items) > 0 {
		message += ": " + strings.Join(items, "; ")
	}
	return shorten(message, maxMessage)
}

type taskResult struct {
	Msg     json.RawMessage `json:"msg"`
	Reason  json.RawMessage `json:"reason"`
	Failed  json.RawMessage `json:"failed"`
	Changed json.RawMessage `json:"changed"`
	RC      json.RawMessage `json:"rc"`
	// Assertion is the condition of the module assert that is false.
	Assertion string            `json:"assertion"`
	Censored  string            `json:"censored"`
	Results   []json.RawMessage `json:"results"`
}

func (t taskResult) isTrue(data json.RawMessage) bool { return string(data) == "true" }

func (t taskResult) message() string {
	for _, data := range []json.RawMessage{t.Msg, t.Reason} {
		var text string
		if json.Unmarshal(data, &text) == nil && strings.TrimSpace(text) != "" {
			if text = strings.TrimSpace(text); text == "Assertion failed" && t.Assertion != "" {
				text += ": " + t.Assertion
			}
			return text
		} else if len(data) > 0 && string(data) != `""` && string(data) != "null" {
			return string(data)
		}
	}
	return t.Censored
}

// shorten limits a text to n bytes and does not cut characters.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[:n]
	for !utf8.ValidString(text) && len(text) > n-utf8.UTFMax {
		text = text[:len(text)-1]
	}
	return text + "…"
}
