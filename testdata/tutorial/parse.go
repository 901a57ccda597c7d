package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ready is the last line of a command that runs until it is interrupted. The command is left running.
const ready = "press Ctrl-C to stop"

// continuation is a backslash at the end of a line, which continues a command on the next one.
var continuation = regexp.MustCompile(` \\\n *`)

// step is a command with its expected output, or an edit.
type step struct {
	// heading is the title of the part that starts with the step, or empty.
	heading string
	words   []string
	line    string
	// want is the expected output. It is not compared if it is empty.
	want []string
	// background leaves the command running: its line ends in " &", or its output contains ready.
	background bool
	// interrupt interrupts the command that was last left running: the line ^C.
	interrupt bool
	// edit is the text of a diff block.
	edit string
}

// parse returns the steps in the console and diff blocks of a section of a page, or of the page if section is empty.
func parse(page, section string) ([]step, error) {
	text := strings.ReplaceAll(page, "\r\n", "\n")
	if section != "" {
		var found bool
		if _, text, found = strings.Cut(text, "\n## "+section+"\n"); !found {
			return nil, fmt.Errorf("section ## %s not found", section)
		}
		text, _, _ = strings.Cut(text, "\n## ")
	}
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
			if title := strings.TrimLeft(line, "#"); title != line {
				heading = strings.TrimSpace(title)
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
		return nil, errors.New("no commands found")
	}
	return steps, nil
}

// parseLine parses a line of a console block. It returns nil for a line of output.
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

// split splits a command into words, which may be quoted with single or double quotes. Variables, pipes and redirections are
// not supported, so that the documentation works in all shells.
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
		return nil, errors.New("missing closing quote")
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}
