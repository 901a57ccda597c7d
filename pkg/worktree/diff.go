package worktree

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff returns changes as a unified diff for git apply, in the given order. For binary files it only reports a difference.
func Diff(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		diffFile(&b, c)
	}
	return b.String()
}

const (
	devNull   = "/dev/null"
	noNewline = "\n\\ No newline at end of file\n"
)

func diffFile(b *strings.Builder, c Change) {
	from, to := diffName("a/"+c.Path), diffName("b/"+c.Path)
	if c.From != "" {
		from = diffName("a/" + c.From)
	}
	fmt.Fprintf(b, "diff --git %s %s\n", from, to)
	switch {
	case c.From != "":
		fmt.Fprintf(b, "rename from %s\nrename to %s\n", diffName(c.From), diffName(c.Path))
		if bytes.Equal(c.Old, c.New) {
			return
		}
	case c.Old == nil:
		mode := c.Mode.Perm()
		if mode == 0 {
			mode = FileMode
		}
		fmt.Fprintf(b, "new file mode %o\n", 0o100000|mode)
		from = devNull
	case c.New == nil:
		fmt.Fprintf(b, "deleted file mode %o\n", 0o100000|FileMode)
		to = devNull
	}
	if isBinary(c.Old) || isBinary(c.New) {
		fmt.Fprintf(b, "Binary files %s and %s differ\n", from, to)
		return
	}
	if len(c.Old) == 0 && len(c.New) == 0 {
		return
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n", headerName(from), headerName(to))
	old, new := diffLines(c.Old), diffLines(c.New)
	// A file that is created or deleted needs no comparison.
	if len(old) == 0 || len(new) == 0 {
		fmt.Fprintf(b, "@@ -%s +%s @@\n", diffRange(0, len(old)), diffRange(0, len(new)))
		writeLines(b, '-', old)
		writeLines(b, '+', new)
		return
	}
	// The anchored diff is fast also for the repetitive YAML of large CRDs. Its three header lines are dropped.
	hunks := diff.Diff("a", c.Old, "b", c.New)
	for range 3 {
		_, hunks, _ = bytes.Cut(hunks, []byte("\n"))
	}
	b.Write(hunks)
}

func writeLines(b *strings.Builder, sign byte, lines []string) {
	for _, line := range lines {
		b.WriteByte(sign)
		b.WriteString(line)
	}
}

// diffRange returns the range in a hunk header for n lines from index start.
func diffRange(start, n int) string {
	if n == 1 {
		return strconv.Itoa(start + 1)
	}
	if n > 0 {
		start++
	}
	return fmt.Sprintf("%d,%d", start, n)
}

// diffLines splits a text into lines, with the marker for a last line without line break.
func diffLines(data []byte) []string {
	var lines []string
	for line := range strings.Lines(string(data)) {
		if !strings.HasSuffix(line, "\n") {
			line += noNewline
		}
		lines = append(lines, line)
	}
	return lines
}

func isBinary(data []byte) bool {
	return bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data)
}

// diffName quotes a name with control characters as git does.
func diffName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		return strconv.Quote(name)
	}
	return name
}

// headerName appends a tab to a name with a space, so that patch programs find its end.
func headerName(name string) string {
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}
