package controlplane

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	// tailLines is how much of a log an error shows, tailWidth how much of each line.
	tailLines = 10
	tailWidth = 400
	// maxLine bounds what is held of output without line ends.
	maxLine = 64 << 10
)

// tail keeps the last lines written to it. The zero value is ready.
type tail struct {
	// log gets everything as it comes; nil is for nobody.
	log io.Writer
	// skip tells of a complete line that it need not be kept; nil keeps all.
	skip func(line string) bool

	mu      sync.Mutex
	kept    []string
	partial []byte
	// stack tells that the last lines are the stacks of a Go program that panicked.
	stack bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.log != nil {
		// A log that cannot be written must not stop the program that writes it.
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

// inStack tells whether a line belongs to the stacks of goroutines. They would push out the line that
// tells why they are printed.
func (t *tail) inStack(line string) bool {
	switch {
	case strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, "]:"):
		t.stack = true
	case strings.HasPrefix(line, "{"), strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "), klogLine(line):
		t.stack = false
	}
	return t.stack
}

// klogLine tells whether a line starts as those of Kubernetes' logs: E0102 15:04:05.
func klogLine(line string) bool {
	if len(line) < 6 || !strings.ContainsRune("IWEF", rune(line[0])) || line[5] != ' ' {
		return false
	}
	return strings.Trim(line[1:5], "0123456789") == ""
}

// lines returns the last lines, oldest first, and with them one that has no end yet.
func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.partial) > 0 {
		t.keep(t.partial)
		t.partial = nil
	}
	return append([]string{}, t.kept...)
}
