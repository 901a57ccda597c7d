// Package prompt asks the user questions: at a terminal where answers can be edited, or line by line, as from a pipe.
package prompt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
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

// A Question asks for a line of text.
type Question struct {
	// Text is the question without punctuation at its end.
	Text string
	// Example is a possible answer.
	Example string
	// Default replaces an empty answer. If it is empty, Check decides whether the answer may be empty.
	Default string
	// Check returns an error for an invalid answer, and the question is asked again. If nil, all answers are valid.
	// A suggestion among findings becomes the default.
	Check func(answer string) error
}

// String returns the question with its example.
func (q Question) String() string {
	if q.Example == "" {
		return q.Text
	}
	return fmt.Sprintf("%s (example: %s)", q.Text, q.Example)
}

// ErrInterrupted is the error of a command that was interrupted.
var ErrInterrupted = errors.New("interrupted")

// ErrNoAnswer means that the input ended before the answer.
var ErrNoAnswer = errors.New("no input")

// invalidAnswer is the error for an answer that is neither yes nor no.
type invalidAnswer string

func (e invalidAnswer) Error() string { return "invalid answer" }

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

// New returns a prompter that asks with survey at a terminal that can move its cursor, and line by line otherwise. Questions go to
// Err, or to Out if only that is a terminal.
func New(t Terminal) Prompter {
	out, width := t.Err, math.MaxInt
	if t.InTerminal {
		width = t.Width - 1 // the last column remains free for the cursor
		if t.OutTerminal && !t.ErrTerminal {
			out = t.Out
		}
	}
	p := &prompter{out: out, width: width}
	in, inOK := t.In.(*os.File)
	file, outOK := out.(*os.File)
	if t.InTerminal && (t.ErrTerminal || t.OutTerminal) && inOK && outOK && !t.Dumb {
		p.asker = &surveyAsker{in: in, out: file, width: width, interrupted: t.Interrupted}
		return p
	}
	lines := &lineAsker{in: bufio.NewReaderSize(t.In, maxAnswerSize), out: out, interrupted: t.Interrupted, separator: "\n", width: width}
	if t.InTerminal {
		lines.separator = " " // the terminal ends the line with the answer
	}
	p.asker = lines
	return p
}

// An asker prints a question once and reads the answer.
type asker interface {
	// confirm asks a question with the answers yes and no. An empty answer is the suggestion. Other answers are an invalidAnswer.
	confirm(question string, suggestion bool) (bool, error)
	// line asks for a line of text. An empty answer is the default.
	line(question Question) (string, error)
}

// prompter repeats questions until they have valid answers.
type prompter struct {
	asker
	out   io.Writer
	width int
}

func (p *prompter) Confirm(question string, suggestion bool) (bool, error) {
	question = diag.Escape(question)
	for range maxAnswers {
		answer, err := p.confirm(question, suggestion)
		switch invalid, ok := errors.AsType[invalidAnswer](err); {
		case err == nil:
			return answer, nil
		case !ok:
			return false, fmt.Errorf("%w for prompt %q", err, question)
		default:
			fmt.Fprintf(p.out, "%q: must be y or n\n", string(invalid))
		}
	}
	return false, fmt.Errorf("%w for prompt %q", ErrBadAnswers, question)
}

func (p *prompter) Input(q Question) (string, error) {
	q.Text, q.Default, q.Example = diag.Escape(q.Text), diag.EscapeLine(q.Default), diag.EscapeLine(q.Example)
	for range maxAnswers {
		answer, err := p.line(q)
		if err != nil {
			return "", fmt.Errorf("%w for prompt %q", err, q.Text)
		}
		answer = unquoted(answer)
		if q.Check == nil {
			return answer, nil
		}
		if err = q.Check(answer); err == nil {
			return answer, nil
		}
		fmt.Fprintln(p.out, strings.Join(words.Wrap(refusal(answer, err), p.width), "\n"))
		if findings, ok := errors.AsType[diag.Findings](err); ok && findings[0].Suggestion != "" {
			q.Default = findings[0].Suggestion
		}
	}
	return "", fmt.Errorf("%w for prompt %q", ErrBadAnswers, q.Text)
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
		return fmt.Errorf("%w; nothing was written", ErrInterrupted)
	}
}
