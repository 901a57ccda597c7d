package cmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/AlecAivazis/survey/v2"
	"github.com/AlecAivazis/survey/v2/terminal"
)

// Prompter asks a person for what the flags leave open.
type Prompter interface {
	// Confirm asks a question that is answered with yes or no.
	Confirm(question string) (bool, error)
	// Input asks for a line; validate says what is wrong with an answer, and the question is asked again.
	Input(question, suggestion string, validate func(string) error) (string, error)
	// Ask asks for a line as operator-sdk does, with the answer behind a > below the question. It takes quotes
	// from around the answer; insist says what is wrong with an answer before the question is asked again.
	Ask(question string, insist func(string) string) (string, error)
}

// errNoAnswer tells that a question found nobody to answer it.
var errNoAnswer = errors.New("there is no input to answer it")

// errBadAnswers tells that a pipe gave nothing that answers a question, as one without an end might for ever.
var errBadAnswers = errors.New("the input does not answer it")

// mostAnswers is how often a question is put to a pipe.
const mostAnswers = 20

// longestAnswer is where a line of a pipe is no answer any more; a description may be long.
const longestAnswer = 64 << 10

// prompt gives the Env's own prompter, survey at a terminal, or one that reads lines from a pipe.
func (a *app) prompt() Prompter {
	if a.Prompter == nil {
		a.Prompter = newPrompter(a.Env)
	}
	return a.Prompter
}

func newPrompter(env *Env) Prompter {
	in, inOK := env.In.(*os.File)
	out, outOK := env.Out.(*os.File)
	if env.InTerminal && env.OutTerminal && inOK && outOK {
		return surveyPrompter{options: []survey.AskOpt{survey.WithStdio(in, out, env.Err)}}
	}
	return &linePrompter{in: bufio.NewReaderSize(env.In, longestAnswer), out: env.Out}
}

// surveyPrompter asks at a terminal.
type surveyPrompter struct{ options []survey.AskOpt }

func (p surveyPrompter) Confirm(question string) (bool, error) {
	answer := true
	err := survey.AskOne(&survey.Confirm{Message: question, Default: true}, &answer, p.options...)
	return answer, surveyError(err)
}

func (p surveyPrompter) Input(question, suggestion string, validate func(string) error) (string, error) {
	var answer string
	options := append([]survey.AskOpt{survey.WithValidator(func(v any) error {
		s, _ := v.(string)
		return validate(strings.TrimSpace(s))
	})}, p.options...)
	err := survey.AskOne(&survey.Input{Message: question, Default: suggestion}, &answer, options...)
	return strings.TrimSpace(answer), surveyError(err)
}

func (p surveyPrompter) Ask(question string, insist func(string) string) (string, error) {
	answer, err := p.Input(question, "", func(answer string) error {
		if problem := insist(unquoted(answer)); problem != "" {
			return errors.New(problem)
		}
		return nil
	})
	return unquoted(answer), err
}

// unquoted is an answer without the quotes that somebody may have put around it.
func unquoted(answer string) string { return strings.Trim(strings.TrimSpace(answer), "`'\"") }

func surveyError(err error) error {
	if errors.Is(err, terminal.InterruptErr) {
		return errors.New("interrupted; nothing was written")
	}
	return err
}

// linePrompter reads one answer a line, as printf 'y\ny\n' | operon create api gives them. One
// reader serves all questions: the first must not swallow the answers to the next.
type linePrompter struct {
	in  *bufio.Reader
	out io.Writer
}

func (p *linePrompter) line(question string) (string, error) {
	fmt.Fprintln(p.out, question)
	return p.answer()
}

func (p *linePrompter) answer() (string, error) {
	line, err := p.in.ReadSlice('\n')
	answer := strings.TrimSpace(string(line))
	switch {
	case err == nil, errors.Is(err, io.EOF) && answer != "":
		return answer, nil
	case errors.Is(err, io.EOF):
		return "", errNoAnswer
	case errors.Is(err, bufio.ErrBufferFull):
		return "", errBadAnswers
	}
	return "", err
}

func (p *linePrompter) Confirm(question string) (bool, error) {
	for range mostAnswers {
		answer, err := p.line(question + " [y/n]")
		if err != nil {
			return false, fmt.Errorf("the question %q is open: %w", question, err)
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		fmt.Fprintf(p.out, "%q is neither y nor n.\n", answer)
	}
	return false, fmt.Errorf("the question %q is open: %w", question, errBadAnswers)
}

func (p *linePrompter) Input(question, suggestion string, validate func(string) error) (string, error) {
	for range mostAnswers {
		answer, err := p.line(question)
		if err != nil {
			return "", fmt.Errorf("the question %q is open: %w", question, err)
		}
		if answer == "" {
			answer = suggestion
		}
		wrong := validate(answer)
		if wrong == nil {
			return answer, nil
		}
		fmt.Fprintln(p.out, wrong)
	}
	return "", fmt.Errorf("the question %q is open: %w", question, errBadAnswers)
}

func (p *linePrompter) Ask(question string, insist func(string) string) (string, error) {
	for range mostAnswers {
		fmt.Fprintf(p.out, "\n%s \n> ", question)
		answer, err := p.answer()
		if err != nil {
			fmt.Fprintln(p.out)
			return "", fmt.Errorf("the question %q is open: %w", question, err)
		}
		answer = unquoted(answer)
		problem := insist(answer)
		if problem == "" {
			return answer, nil
		}
		fmt.Fprintf(p.out, "%s ", problem)
	}
	return "", fmt.Errorf("the question %q is open: %w", question, errBadAnswers)
}
