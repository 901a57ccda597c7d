package prompt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

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

func (l *lineAsker) confirm(question string, suggestion bool) (bool, error) {
	choices := "[y/N]"
	if suggestion {
		choices = "[Y/n]"
	}
	answer, err := l.ask(question + " " + choices + ":")
	if err != nil {
		return false, err
	}
	switch strings.ToLower(answer) {
	case "y", "yes":
		return true, nil
	case "n", "no":
		return false, nil
	case "":
		return suggestion, nil
	}
	return false, invalidAnswer(answer)
}

func (l *lineAsker) line(q Question) (string, error) {
	question := q.String()
	if q.Default != "" {
		question += fmt.Sprintf(" [%s]", q.Default)
	}
	answer, err := l.ask(question + ":")
	if unquoted(answer) == "" {
		answer = q.Default
	}
	return answer, err
}

// ask prints a question, wrapped to the width of the terminal, and reads a line.
func (l *lineAsker) ask(question string) (string, error) {
	fmt.Fprint(l.out, strings.Join(words.Wrap(question, l.width), "\n")+l.separator)
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
