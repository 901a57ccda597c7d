package controlplane

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	// tailLines is the number of lines of a log in an error, tailWidth their maximum length in bytes.
	tailLines = 10
	tailWidth = 400
	// maxLine is the maximum length of a buffered line in bytes.
	maxLine = 64 << 10
)

// tail stores the last lines written to it. The zero value is ready to use.
type tail struct {
	// log receives all output; it may be nil.
	log io.Writer
	// skip reports whether a line is not stored; it may be nil.
	skip func(line string) bool

	mu      sync.Mutex
	kept    []string
	partial []byte
	// stack reports whether the last lines are stack traces of a Go program.
	stack bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.log != nil {
		// Errors of the log must not stop the program.
		_, _ = t.log.Write(p)
	}
	t.partial = append(t.partial, p...)
	for {
		i := bytes.IndexByte(t.partial, '\n')
		if i < 0 {
			break
		}
		t.keep(t.partial[:i])
		t.partial = t.partial[i+1:]
	}
	if len(t.partial) > maxLine {
		t.keep(t.partial)
		t.partial = nil
	}
	return len(p), nil
}

func (t *tail) keep(line []byte) {
	text := strings.TrimRight(string(line), "\r")
	if strings.TrimSpace(text) == "" || t.skip != nil && t.skip(text) || t.inStack(text) {
		return
	}
	if len(text) > tailWidth {
		text = strings.ToValidUTF8(text[:tailWidth], "") + "…"
	}
	if len(t.kept) == tailLines {
		t.kept = append(t.kept[:0], t.kept[1:]...)
	}
	t.kept = append(t.kept, text)
}

// inStack reports whether a line belongs to stack traces, which would displace the line with their cause.
func (t *tail) inStack(line string) bool {
	switch {
	case strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, "]:"):
		t.stack = true
	case strings.HasPrefix(line, "{"), strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "), isKlogLine(line):
		t.stack = false
	}
	return t.stack
}

// isKlogLine reports whether a line starts like a Kubernetes log line: E0102 15:04:05.
func isKlogLine(line string) bool {
	if len(line) < 6 || !strings.ContainsRune("IWEF", rune(line[0])) || line[5] != ' ' {
		return false
	}
	return strings.Trim(line[1:5], "0123456789") == ""
}

// lines returns the last lines, oldest first, including an incomplete one.
func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.partial) > 0 {
		t.keep(t.partial)
		t.partial = nil
	}
	return append([]string{}, t.kept...)
}
