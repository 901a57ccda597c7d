package scaffold

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pmezard/go-difflib/difflib"
)

// Diff shows changes as a unified diff that git apply takes, in the order given. Of binary files it
// tells only that they differ.
func Diff(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		diffFile(&b, c)
	}
	return b.String()
}

const (
	contextLines = 3
	devNull      = "/dev/null"
	noNewline    = "\n\\ No newline at end of file\n"
)

func diffFile(b *strings.Builder, c Change) {
	from, to := diffName("a/"+c.Path), diffName("b/"+c.Path)
	fmt.Fprintf(b, "diff --git %s %s\n", from, to)
	switch {
	case c.Old == nil:
		mode := c.Mode.Perm()
		if mode == 0 {
			mode = fileMode
		}
		fmt.Fprintf(b, "new file mode %o\n", 0o100000|mode)
		from = devNull
	case c.New == nil:
		fmt.Fprintf(b, "deleted file mode %o\n", 0o100000|fileMode)
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
	// One side alone needs no comparison.
	if len(old) == 0 || len(new) == 0 {
		fmt.Fprintf(b, "@@ -%s +%s @@\n", diffRange(0, len(old)), diffRange(0, len(new)))
		writeLines(b, '-', old)
		writeLines(b, '+', new)
		return
	}
	hunks(b, old, new)
}

// hunks compares what is left between the common beginning and end of two texts.
func hunks(b *strings.Builder, old, new []string) {
	start := 0
	for start < len(old) && start < len(new) && old[start] == new[start] {
		start++
	}
	end := 0
	for end < len(old)-start && end < len(new)-start && old[len(old)-1-end] == new[len(new)-1-end] {
		end++
	}
	// Enough of the common lines stays to give the hunks their context.
	start, end = max(0, start-contextLines), max(0, end-contextLines)
	m := difflib.NewMatcherWithJunk(old[start:len(old)-end], new[start:len(new)-end], false, nil)
	for _, group := range m.GetGroupedOpCodes(contextLines) {
		first, last := group[0], group[len(group)-1]
		fmt.Fprintf(b, "@@ -%s +%s @@\n", diffRange(start+first.I1, last.I2-first.I1), diffRange(start+first.J1, last.J2-first.J1))
		for _, op := range group {
			if op.Tag == 'e' {
				writeLines(b, ' ', old[start+op.I1:start+op.I2])
				continue
			}
			writeLines(b, '-', old[start+op.I1:start+op.I2])
			writeLines(b, '+', new[start+op.J1:start+op.J2])
		}
	}
}

func writeLines(b *strings.Builder, sign byte, lines []string) {
	for _, line := range lines {
		b.WriteByte(sign)
		b.WriteString(line)
	}
}

// diffRange is the part of a hunk's head for n lines from index start.
func diffRange(start, n int) string {
	if n == 1 {
		return strconv.Itoa(start + 1)
	}
	if n > 0 {
		start++
	}
	return fmt.Sprintf("%d,%d", start, n)
}

// diffLines splits a text so that a last line without an end says so.
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

// diffName quotes a name as git does when it holds characters that would break a line apart.
func diffName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		return strconv.Quote(name)
	}
	return name
}

// headerName ends a name with a space in it by a tab, so that patch programs find its end.
func headerName(name string) string {
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}
