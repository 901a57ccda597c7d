package main

import (
	"errors"
	"fmt"
	"strings"
)

// step is a command of the tutorial with the lines that it must print.
type step struct {
	// heading is the title of the part that the step opens, empty for the ones that follow.
	heading string
	words   []string
	line    string
	want    []string
	// background leaves the command running: its line ends in " &".
	background bool
}

// parse takes the steps from the console blocks of the section "## Tutorial".
func parse(readme string) ([]step, error) {
	_, section, ok := strings.Cut(strings.ReplaceAll(readme, "\r\n", "\n"), "\n## Tutorial\n")
	if !ok {
		return nil, errors.New("the README has no section ## Tutorial")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var steps []step
	heading, inBlock := "", false
	for line := range strings.Lines(section) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			inBlock = line == "```console"
		case !inBlock:
			if title, ok := strings.CutPrefix(line, "### "); ok {
				heading = title
			}
		case strings.HasPrefix(line, "$ "):
			s := step{heading: heading, line: strings.TrimPrefix(line, "$ ")}
			command, background := strings.CutSuffix(s.line, " &")
			words, err := split(command)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
			s.words, s.background, heading = words, background, ""
			steps = append(steps, s)
		case strings.TrimSpace(line) != "":
			if len(steps) == 0 {
				return nil, fmt.Errorf("output before any command: %s", line)
			}
			last := &steps[len(steps)-1]
			last.want = append(last.want, strings.Join(strings.Fields(line), " "))
		}
	}
	if len(steps) == 0 {
		return nil, errors.New("the tutorial has no commands")
	}
	return steps, nil
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
