package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// omitted matches any number of lines of output, and within a line any text.
const omitted = "…"

// errLacking means that the output is a prefix of the expected output.
var errLacking = errors.New("the output lacks")

// compare compares the output of a command with the expected lines. It ignores blank lines and the width of columns. The
// error is errLacking if more output could match.
func compare(want []string, output string) error {
	var lines []string
	for line := range strings.Lines(output) {
		if line = normalize(line); line != "" {
			lines = append(lines, line)
		}
	}
	skip := false
	for _, w := range want {
		if w == omitted {
			skip = true
			continue
		}
		for skip && len(lines) > 0 && !matches(w, lines[0]) {
			lines = lines[1:]
		}
		switch {
		case len(lines) == 0:
			return fmt.Errorf("%w %q", errLacking, w)
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
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), omitted, ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(line)
}

func normalize(line string) string { return strings.Join(strings.Fields(line), " ") }
