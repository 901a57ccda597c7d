package prompt

import (
	"bufio"
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

// TestSurveyKeys checks the keys that mean something else to survey, and that it gets one line at a time.
func TestSurveyKeys(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"a\x15b\x04":          "a\x18b\x03",
		"\x1b[A\x1bOB":        "\x1b[A\x1bOB",
		"\x1bx\x1b\x1b[A\x1b": "\x00x\x00\x1b[A\x00",
		"one\rtwo":            "one\r",
		"\n":                  "\n", // Enter, after a line
	} {
		buffer := make([]byte, 16)
		n, err := surveyKeys{keys: &keys{in: bufio.NewReader(strings.NewReader(typed)), last: []byte("\r")}}.Read(buffer)
		if got := string(buffer[:n]); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", typed, got, err, want)
		}
	}
}
