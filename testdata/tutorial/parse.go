package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ready is what a command prints last that runs until it is interrupted: it is left running then.
const ready = "press Ctrl-C to stop"

// continuation is a backslash at the end of a line, which continues a command on the next one.
var continuation = regexp.MustCompile(` \\\n *`)

// step is a command of the tutorial with what it must print, or an edit.
type step struct {
	// heading is the title of the part that the step opens, empty for the ones that follow.
	heading string
	words   []string
	line    string
	// want is the output; if it is empty, the tutorial does not show it.
	want []string
	// background leaves the command running: its line ends in " &", or it prints ready.
	background bool
	// interrupt ends the command that was left running last: the line ^C.
	interrupt bool
	// edit is the text of a diff block.
	edit string
}

// parse takes the steps from the console and diff blocks of a section.
func parse(readme, section string) ([]step, error) {
	_, text, ok := strings.Cut(strings.ReplaceAll(readme, "\r\n", "\n"), "\n## "+section+"\n")
	if !ok {
		return nil, fmt.Errorf("the README has no section ## %s", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var steps []step
	heading, block := "", ""
	add := func(s step) {
		s.heading, heading = heading, ""
		steps = append(steps, s)
	}
	for line := range strings.Lines(continuation.ReplaceAllString(text, " ")) {
		line = strings.TrimRight(line, "\n")
		if language, ok := strings.CutPrefix(line, "```"); ok {
			if block = language; block == "diff" {
				add(step{})
			}
			continue
		}
		switch block {
		case "":
			if title, ok := strings.CutPrefix(line, "### "); ok {
				heading = title
			}
		case "diff":
			steps[len(steps)-1].edit += line + "\n"
		case "console":
			s, err := parseLine(line)
			if err != nil {
				return nil, err
			}
			if s != nil {
				add(*s)
			} else if strings.TrimSpace(line) != "" {
				if len(steps) == 0 || steps[len(steps)-1].line == "" {
					return nil, fmt.Errorf("output before any command: %s", line)
				}
				last := &steps[len(steps)-1]
				want := normalize(line)
				last.want = append(last.want, want)
				last.background = last.background || want == ready
			}
		}
	}
	if len(steps) == 0 {
		return nil, errors.New("the section has no commands")
	}
	return steps, nil
}

// parseLine reads a line of a console block; it returns nil for a line of output.
func parseLine(line string) (*step, error) {
	if line == "^C" {
		return &step{line: line, interrupt: true}, nil
	}
	typed, ok := strings.CutPrefix(line, "$ ")
	if !ok {
		return nil, nil
	}
	command, background := strings.CutSuffix(typed, " &")
	words, err := split(command)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", line, err)
	}
	return &step{line: typed, words: words, background: background}, nil
}

// split cuts a command into words; single and double quotes hold blanks together. There are no
// variables, pipes or redirections: the tutorial works in every shell.
func split(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	open := false
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}
