package prompt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/operon-sdk/operon/cmd/internal/words"
)

// lineAsker reads one answer a line, from a pipe or a terminal. All questions have the same reader, since it may read more than
// one line ahead. It prints no escape sequences: a terminal itself lets users edit the line.
type lineAsker struct {
	in  *bufio.Reader
	out io.Writer
	// separator is printed between a question and its answer, and width is the terminal's.
	separator   string
	width       int
	interrupted <-chan struct{}
}

// choose lists the options with numbers. The answer is a number or the text of an option.
func (l *lineAsker) choose(q Question) (int, error) {
	suggestion := q.suggested()
	for i, option := range q.Options {
		fmt.Fprintf(l.out, "%3d) %s\n", i+1, option.label())
	}
	answer, err := l.ask(line{question: fmt.Sprintf("%s (1 to %d, default: %d):", q.title(), len(q.Options), suggestion+1)})
	if err != nil || answer == "" {
		return suggestion, err
	}
	if i, err := strconv.Atoi(answer); err == nil && i >= 1 && i <= len(q.Options) {
		return i - 1, nil
	}
	for i, option := range q.Options {
		if strings.EqualFold(answer, option.label()) || answer == option.Value {
			return i, nil
		}
	}
	return 0, invalidAnswer{answer, fmt.Sprintf("must be a number from 1 to %d", len(q.Options))}
}

func (l *lineAsker) confirm(question string, suggestion bool) (bool, error) {
	choices := "[y/N]"
	if suggestion {
		choices = "[Y/n]"
	}
	answer, err := l.ask(line{question: question + " " + choices + ":"})
	switch strings.ToLower(answer) {
	case "y", "yes":
		return true, err
	case "n", "no":
		return false, err
	case "":
		return suggestion, err
	}
	return false, invalidAnswer{answer, "must be y or n"}
}

// ask prints a question, wrapped to the width of the terminal, and reads a line.
func (l *lineAsker) ask(q line) (string, error) {
	lines := words.Wrap(q.question, l.width)
	separator := l.separator
	if last := utf8.RuneCountInString(lines[len(lines)-1]); l.separator == " " && last > l.width-answerColumns {
		separator = "\n> "
	}
	fmt.Fprint(l.out, strings.Join(lines, "\n")+separator)
	var line []byte
	err := readOrInterrupt(l.interrupted, func() (err error) {
		line, err = l.in.ReadSlice('\n')
		return err
	})
	if errors.Is(err, ErrInterrupted) {
		fmt.Fprintln(l.out)
		return "", err
	}
	answer := strings.TrimSpace(string(line))
	switch {
	case err == nil, errors.Is(err, io.EOF) && answer != "":
		return answer, nil
	case errors.Is(err, io.EOF):
		return "", ErrNoAnswer
	case errors.Is(err, bufio.ErrBufferFull):
		return "", ErrBadAnswers
	}
	return "", err
}
