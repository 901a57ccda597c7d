package runner

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// tail keeps the end of what is written to it.
type tail struct {
	limit int
	mu    sync.Mutex
	data  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if len(t.data) > 2*t.limit {
		t.data = append([]byte(nil), t.data[len(t.data)-t.limit:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data[max(0, len(t.data)-t.limit):])
}

// readTail returns the last n bytes of a file, or nothing.
func readTail(path string, n int64) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > n {
		if _, err := file.Seek(-n, io.SeekEnd); err != nil {
			return ""
		}
	}
	data, _ := io.ReadAll(io.LimitReader(file, n))
	return string(data)
}

// escapes matches the escape sequences of colors.
var escapes = lazyregexp.New(`\x1b\[[0-9;]*[A-Za-z]`)

// plain returns the last lines of an output without colors and empty lines.
func plain(text string) string {
	const maxLines = 20
	text = strings.ToValidUTF8(escapes.ReplaceAllString(text, ""), string(utf8.RuneError))
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-maxLines):], "\n")
}

// runLog returns the logger of a run, which discards everything if no events are logged.
func (r *Runner) runLog(request Request, ident string) logr.Logger {
	if r.config.LogEvents == Nothing {
		return logr.Discard()
	}
	return r.config.Log.WithValues("kind", request.GVK.Kind, "namespace", request.Key.Namespace, "name", request.Key.Name, "job", ident)
}

func (r Request) redact(message string) string {
	if r.Redact == nil {
		return message
	}
	return r.Redact(message)
}

// eventLog returns a function that logs the events of a run.
func (r *Runner) eventLog(request Request, log logr.Logger) func(event) {
	return func(e event) {
		switch {
		case e.Event == "runner_on_failed" || e.Event == "runner_on_unreachable":
			ignored := e.Data.IgnoreErrors != nil && *e.Data.IgnoreErrors
			log.Info("task failed", "task", request.redact(e.Data.Task), "role", e.Data.Role, "ignored", ignored, "message", request.redact(failureMessage(e.Data)))
		case e.Event == "playbook_on_task_start":
			log.Info("task started", "task", request.redact(e.Data.Name), "role", e.Data.Role)
		case r.config.LogEvents == Everything && e.Event != "operon_start":
			log.Info("event", "event", e.Event, "task", request.redact(e.Data.Task), "host", e.Data.Host, "output", request.redact(plain(e.Stdout)))
		}
	}
}

func logEnd(log logr.Logger, request Request, result *Result, err error) {
	values := []any{
		"ok", result.Stats.OK, "changed", result.Stats.Changed, "skipped", result.Stats.Skipped, "failures", result.Stats.Failures,
		"duration", result.Duration.Round(time.Millisecond).String(),
	}
	switch {
	case err != nil:
		log.Info("run ended without a result", append(values, "reason", request.redact(err.Error()))...)
	case result.RequeueAfter != nil:
		log.Info("run requested another one", append(values, "after", result.RequeueAfter.String())...)
	case result.Failed():
		log.Info("run failed", append(values, "message", request.redact(result.Message()))...)
	default:
		log.Info("run succeeded", values...)
	}
}
