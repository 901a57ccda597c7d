package console

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Omitted matches any number of lines of output, and within a line any text.
const Omitted = "…"

// ErrLacking means that the output is a prefix of the expected output.
var ErrLacking = errors.New("the output lacks")

// Compare compares the output of a command with the expected lines. It ignores blank lines and the width of columns. The
// error is ErrLacking if more output could match.
func Compare(want []string, output string) error {
	var lines []string
	for line := range strings.Lines(output) {
		if line = normalize(line); line != "" {
			lines = append(lines, line)
		}
	}
	skip := false
	for _, w := range want {
		if w == Omitted {
			skip = true
			continue
		}
		for skip && len(lines) > 0 && !matches(w, lines[0]) {
			lines = lines[1:]
		}
		switch {
		case len(lines) == 0:
			return fmt.Errorf("%w %q", ErrLacking, w)
		case !matches(w, lines[0]):
			return fmt.Errorf("the output has %q instead of %q", lines[0], w)
		}
		lines, skip = lines[1:], false
	}
	if len(lines) > 0 && !skip {
		return fmt.Errorf("unexpected output %q", lines[0])
	}
	return nil
}

// matches reports whether a line of output matches an expected line.
func matches(want, line string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), Omitted, ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(line)
}

func normalize(line string) string { return strings.Join(strings.Fields(line), " ") }
