// Package prompt asks the user questions: at a terminal where answers can be edited, or line by line, as from a pipe.
package prompt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/diag"
)

// A Prompter asks the user for values of missing flags.
type Prompter interface {
	// Confirm asks a yes-or-no question. An empty answer is the suggestion.
	Confirm(question string, suggestion bool) (bool, error)
	// Input asks for a line of text.
	Input(question Question) (string, error)
}

// A Question asks for a line of text, or for one of some options.
type Question struct {
	// Number is the place of the question among several: "2 of 5". It can be empty.
	Number string
	// Text is the question without punctuation at its end.
	Text string
	// Example is a possible answer.
	Example string
	// Default replaces an empty answer. If it is empty, Check decides whether the answer may be empty.
	Default string
	// Check returns an error for an invalid answer, and the question is asked again. If nil, all answers are valid.
	// A suggestion among findings becomes the default.
	Check func(answer string) error
	// Options are the possible answers, or nil. The user begins at the one whose value is Default, or at the first one.
	Options []Option
	// Other, if it is not empty, is the text of one more option: an answer that is none of the others.
	Other string
	// Lines means that the answer can have several lines, which can be pasted at a terminal.
	Lines bool
}

// An Option is a possible answer.
type Option struct {
	// Value is the answer, and Text what the user sees; empty means the value.
	Value, Text string
	// Flags are the flags of the command line with the same effect. Nil means the flag of the Step with the value.
	Flags []string
}

func (o Option) label() string {
	if o.Text == "" {
		return o.Value
	}
	return o.Text
}

// title returns the question with its number.
func (q Question) title() string {
	if q.Number == "" {
		return q.Text
	}
	return fmt.Sprintf("[%s] %s", q.Number, q.Text)
}

// line returns the question for a line of text, with its default or else its example.
func (q Question) line() line {
	text := q.title()
	switch {
	case q.Default != "":
		text += fmt.Sprintf(" (default: %s)", q.Default)
	case q.Example != "":
		text += fmt.Sprintf(" (example: %s)", q.Example)
	}
	return line{text + ":", q.Default, q.Lines}
}

// option returns the index of the option with a value, or -1.
func (q Question) option(value string) int {
	return slices.IndexFunc(q.Options, func(o Option) bool { return o.Value == value })
}

// suggested returns the index of the option that the user begins at.
func (q Question) suggested() int {
	if q.Default == "" {
		return 0
	}
	return max(0, q.option(q.Default))
}

// ErrInterrupted is the error of a command that was interrupted.
var ErrInterrupted = errors.New("interrupted")

// ErrNoAnswer means that the input ended before the answer.
var ErrNoAnswer = errors.New("no input")

// An invalidAnswer is the error for an answer that is none of the possible ones.
type invalidAnswer struct{ answer, problem string }

func (e invalidAnswer) Error() string {
	if e.answer == "" {
		return e.problem
	}
	return fmt.Sprintf("%q: %s", e.answer, e.problem)
}

// ErrBadAnswers means that the input has no valid answer.
var ErrBadAnswers = errors.New("no valid input")

const (
	// maxAnswers bounds how many answers to a question are read from a pipe, which may have no end.
	maxAnswers = 20
	// maxAnswerSize bounds the length of an answer; a description may be long.
	maxAnswerSize = 64 << 10
)

// A Terminal is where questions are asked: In, and Err or else Out.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	// InTerminal, OutTerminal and ErrTerminal report whether the streams are terminals.
	InTerminal, OutTerminal, ErrTerminal bool
	// Dumb reports whether the terminal cannot move its cursor.
	Dumb bool
	// Width is the number of columns of the terminal.
	Width int
	// Interrupted is closed when the program is asked to end.
	Interrupted <-chan struct{}
}

// Stream returns where questions go: Err, or Out if only that is a terminal.
func (t Terminal) Stream() io.Writer {
	if t.InTerminal && t.OutTerminal && !t.ErrTerminal {
		return t.Out
	}
	return t.Err
}

// New returns a prompter that lets users edit their answers at a terminal that can move its cursor, and asks line by line otherwise.
func New(t Terminal) Prompter {
	out, width := t.Stream(), math.MaxInt
	if t.InTerminal {
		width = t.Width - 1 // the last column remains free for the cursor
	}
	p := &prompter{out: out, width: width}
	in, inOK := t.In.(*os.File)
	file, outOK := out.(*os.File)
	if t.InTerminal && (t.ErrTerminal || t.OutTerminal) && inOK && outOK && !t.Dumb {
		p.asker = &terminalAsker{keys: newKeys(in), out: file, width: width, interrupted: t.Interrupted}
		return p
	}
	lines := &lineAsker{in: bufio.NewReaderSize(t.In, maxAnswerSize), out: out, interrupted: t.Interrupted, separator: "\n", width: width}
	if t.InTerminal {
		lines.separator = " " // the terminal ends the line with the answer
	}
	p.asker = lines
	return p
}

// An asker prints a question once and reads the answer, which can be an invalidAnswer.
type asker interface {
	// choose returns the index of the chosen option.
	choose(question Question) (int, error)
	// confirm asks a question with the answers yes and no. An empty answer is the suggestion.
	confirm(question string, suggestion bool) (bool, error)
	// ask reads a line, which can be empty.
	ask(question line) (string, error)
}

// A line is a question for a line of text.
type line struct {
	question string
	// suggestion is what an empty answer means.
	suggestion string
	// lines means that pasted text can have several lines.
	lines bool
}

// prompter repeats questions until they have valid answers.
type prompter struct {
	asker
	out   io.Writer
	width int
}

func (p *prompter) Confirm(question string, suggestion bool) (answer bool, err error) {
	question = diag.Escape(question)
	err = p.repeat(question, func() (err error) {
		answer, err = p.confirm(question, suggestion)
		return err
	})
	return answer, err
}

func (p *prompter) Input(q Question) (answer string, err error) {
	q.Text, q.Default, q.Example = diag.Escape(q.Text), diag.EscapeLine(q.Default), diag.EscapeLine(q.Example)
	err = p.repeat(q.Text, func() (err error) {
		if answer, err = p.answer(q); err != nil || q.Check == nil {
			return err
		}
		err = q.Check(answer)
		if err == nil {
			return nil
		}
		if findings, ok := errors.AsType[diag.Findings](err); ok && findings[0].Suggestion != "" {
			q.Default = findings[0].Suggestion
		}
		return invalidAnswer{problem: refusal(answer, err)}
	})
	return answer, err
}

// answer asks for a line, or for an option.
func (p *prompter) answer(q Question) (string, error) {
	if len(q.Options) > 0 {
		all := q
		all.Options = slices.Clone(q.Options)
		for i, option := range all.Options {
			all.Options[i].Text = diag.EscapeLine(option.label())
		}
		if q.Other != "" {
			all.Options = append(all.Options, Option{Value: q.Default, Text: q.Other}) // the default, if it is none of the options
		}
		i, err := p.choose(all)
		if err != nil || i < len(q.Options) {
			return all.Options[i].Value, err
		}
		if q.option(q.Default) >= 0 {
			q.Default = ""
		}
	}
	answer, err := p.ask(q.line())
	if answer = unquoted(answer); answer == "" {
		answer = q.Default
	}
	return answer, err
}

// repeat asks a question until the answer is valid.
func (p *prompter) repeat(question string, ask func() error) error {
	for range maxAnswers {
		err := ask()
		if err == nil {
			return nil
		}
		if errors.Is(err, ErrInterrupted) {
			return err
		}
		invalid, ok := errors.AsType[invalidAnswer](err)
		if !ok {
			return fmt.Errorf("%w for prompt %q", err, question)
		}
		fmt.Fprintln(p.out, strings.Join(words.Wrap(diag.Escape(invalid.Error()), p.width), "\n"))
	}
	return fmt.Errorf("%w for prompt %q", ErrBadAnswers, question)
}

// refusal returns the problem of an answer, without the flag in findings.
func refusal(answer string, err error) string {
	findings, ok := errors.AsType[diag.Findings](err)
	switch {
	case answer == "":
		return "an answer is required"
	case !ok:
		return err.Error()
	}
	return fmt.Sprintf("%q: %s", answer, findings[0].Problem)
}

// unquoted returns an answer without quotes around it.
func unquoted(answer string) string { return strings.Trim(strings.TrimSpace(answer), "`'\"") }

// readOrInterrupt returns the result of read, or an error as soon as the command is interrupted.
func readOrInterrupt(interrupted <-chan struct{}, read func() error) error {
	done := make(chan error, 1)
	go func() { done <- read() }()
	select {
	case err := <-done:
		return err
	case <-interrupted:
		return errNothingWritten(ErrInterrupted)
	}
}

// errNothingWritten returns an error that ends a command at a question.
func errNothingWritten(err error) error { return fmt.Errorf("%w; nothing was written", err) }
