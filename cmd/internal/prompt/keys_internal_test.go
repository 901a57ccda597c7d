package prompt

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestKeysReadLines checks that what is typed ahead is read line by line, and that marked text keeps its line breaks.
func TestKeysReadLines(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string][]string{
		"one\rtwo\r\nthree":                       {"one\r", "two\r", "three"},
		"\x1b[200~a\r\nb\tc\nd\x1b[201~e\rf":      {"\x1b[200~a⏎b c⏎d\x1b[201~e\r", "f"},
		"\x1b[200~a\r\x1b[201~" + "\r" + "next\r": {"\x1b[200~a⏎\x1b[201~\r", "next\r"},
		strings.Repeat("x", 15) + "\ry\r":         {strings.Repeat("x", 15) + "\r", "y\r"},
	} {
		k := &keys{in: bufio.NewReader(strings.NewReader(typed))}
		var lines []string
		for line, buffer := "", make([]byte, 8); ; {
			n, err := k.Read(buffer)
			line += string(buffer[:n])
			if strings.HasSuffix(line, "\r") || err != nil && line != "" {
				lines, line = append(lines, line), ""
			}
			if err != nil {
				break
			}
		}
		if got := strings.Join(lines, "|"); got != strings.Join(want, "|") {
			t.Errorf("%q\n got %q\nwant %q", typed, got, strings.Join(want, "|"))
		}
	}
	if _, err := (&keys{}).Read(nil); !errors.Is(err, io.ErrShortBuffer) {
		t.Errorf("without a buffer: %v", err)
	}
}

// TestListKeys checks which option the keys choose, and that a filter which nothing matches is not accepted.
func TestListKeys(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"\r":                     "two pods",
		"\x1b[A\r":               "one",
		"\x1bOB\x1b[B\r":         "one", // around the end
		"\x0e\r":                 "Pod",
		"\x10\r":                 "one",
		"POD\r":                  "Pod", // the one that begins with it
		"pods\r":                 "two pods",
		"pods\x7f\r":             "Pod",
		"pods\x15\x1b[B\r":       "two pods",
		"nothing\x17\x1b[5~\r\n": "one",
	} {
		var out bytes.Buffer
		l := list{keys: &keys{in: bufio.NewReader(strings.NewReader(typed))}, out: &out, title: "?", columns: 20, options: []string{"one", "two pods", "Pod"}}
		i, err := l.choose(1)
		if err != nil || l.options[i] != want {
			t.Errorf("%q: %q, %v, want %q", typed, l.options[i], err, want)
		}
	}
	for _, typed := range []string{"\x03", "a\x04", ""} {
		l := list{keys: &keys{in: bufio.NewReader(strings.NewReader(typed))}, out: io.Discard, columns: 20, options: []string{"one"}}
		if _, err := l.choose(0); !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v", typed, err)
		}
	}
}

// TestLongLists checks that a list shows some of many options, cut to the width of the terminal, around the selected one.
func TestLongLists(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := list{keys: &keys{in: bufio.NewReader(strings.NewReader("\r"))}, out: &out, title: "?", columns: 10}
	for i := range 40 {
		l.options = append(l.options, strings.Repeat(string(rune('a'+i%26)), 12))
	}
	if i, err := l.choose(30); err != nil || i != 30 {
		t.Fatal(i, err)
	}
	drawn := out.String()
	if n := strings.Count(drawn, "\r\n"); n != maxRows+2 || !strings.Contains(drawn, "> eeeeeee…\r\n") || !strings.Contains(drawn, "  llllll") {
		t.Errorf("%d lines:\n%q", n, drawn)
	}
}
