// Package console reads the commands, edits and code on a page of the documentation, for programs and tests that do what the page says.
package console

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Ready is the last line of a command that runs until it is interrupted.
const Ready = "press Ctrl-C to stop"

var (
	// continuation is a backslash at the end of a line, which continues a command on the next one.
	continuation = regexp.MustCompile(` \\\n *`)
	// comment ends a command in a block of the language sh.
	comment = regexp.MustCompile(`(^|  +)#.*$`)
)

// A Step is a command with its expected output, or a block of code.
type Step struct {
	// Heading is the title of the part that starts with the step, or empty.
	Heading string
	// Block is the number of the step's block on the page, and Language what the block is marked with: console or sh for commands.
	Block    int
	Language string
	// Code is the text of a block that has no commands, such as a diff.
	Code string
	// Line is the command as the page has it, and Words what it consists of.
	Line  string
	Words []string
	// Want is the expected output. It is not compared if it is empty.
	Want []string
	// Background leaves the command running: its line ends in " &", or its output contains Ready.
	Background bool
	// Interrupt interrupts the command that was last left running: the line ^C.
	Interrupt bool
}

// Parse returns the steps of a section of a page, or of the page if section is empty.
func Parse(page, section string) ([]Step, error) {
	text := strings.ReplaceAll(page, "\r\n", "\n")
	if section != "" {
		var found bool
		if _, text, found = strings.Cut(text, "\n## "+section+"\n"); !found {
			return nil, fmt.Errorf("section ## %s not found", section)
		}
		text, _, _ = strings.Cut(text, "\n## ")
	}
	p := parser{}
	for line := range strings.Lines(continuation.ReplaceAllString(text, " ")) {
		if err := p.add(strings.TrimRight(line, "\n")); err != nil {
			return nil, err
		}
	}
	if len(p.steps) == 0 {
		return nil, errors.New("no commands found")
	}
	return p.steps, nil
}

// A parser reads a page by line.
type parser struct {
	steps []Step
	// heading belongs to the next step.
	heading string
	blocks  int
	inside  bool
	// language is the one of the current block.
	language string
}

func (p *parser) add(line string) error {
	language, isFence := strings.CutPrefix(line, "```")
	switch {
	case isFence && !p.inside:
		p.inside, p.language = true, language
		p.blocks++
		if !p.hasCommands() {
			p.append(Step{})
		}
	case isFence:
		p.inside = false
	case !p.inside:
		if title := strings.TrimLeft(line, "#"); title != line {
			p.heading = strings.TrimSpace(title)
		}
	case !p.hasCommands():
		p.last().Code += line + "\n"
	case p.language == "sh":
		if line = strings.TrimSpace(comment.ReplaceAllString(line, "")); line != "" {
			return p.addCommand(line)
		}
	case line == "^C":
		p.append(Step{Line: line, Interrupt: true})
	case strings.HasPrefix(line, "$ "):
		return p.addCommand(line[len("$ "):])
	case strings.TrimSpace(line) != "":
		if p.last() == nil || p.last().Line == "" || p.last().Block != p.blocks {
			return fmt.Errorf("output before any command: %s", line)
		}
		want := normalize(line)
		p.last().Want = append(p.last().Want, want)
		p.last().Background = p.last().Background || want == Ready
	}
	return nil
}

func (p *parser) hasCommands() bool { return p.language == "console" || p.language == "sh" }

// last returns the last step, or nil.
func (p *parser) last() *Step {
	if len(p.steps) == 0 {
		return nil
	}
	return &p.steps[len(p.steps)-1]
}

func (p *parser) append(s Step) {
	s.Heading, s.Block, s.Language = p.heading, p.blocks, p.language
	p.heading = ""
	p.steps = append(p.steps, s)
}

func (p *parser) addCommand(line string) error {
	command, background := strings.CutSuffix(line, " &")
	words, err := split(command)
	if err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	p.append(Step{Line: line, Words: words, Background: background})
	return nil
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
