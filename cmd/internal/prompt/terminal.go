package prompt

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/operon-sdk/operon/cmd/internal/words"
)

// terminalAsker asks at a terminal that can move its cursor. Users edit lines with x/term, and choose and confirm with survey.
type terminalAsker struct {
	keys        *keys
	out         *os.File
	width       int
	interrupted <-chan struct{}
}

// maxLine is the number of characters in a line, as x/term limits it.
const maxLine = 4096

func (t *terminalAsker) ask(q line) (answer string, err error) {
	last := t.lastLine(q.question) + " "
	editor := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{t.keys, t.out}, last)
	if width, height, err := term.GetSize(int(t.out.Fd())); err == nil && width > 0 {
		_ = editor.SetSize(width, height) // nothing is drawn yet
	}
	err = t.raw(func() (err error) {
		if q.lines {
			fmt.Fprint(t.out, markPastes)
			defer fmt.Fprint(t.out, noMarks)
		}
		answer, err = editor.ReadLine()
		if errors.Is(err, term.ErrPasteIndicator) {
			return nil
		}
		return err
	})
	switch {
	case err != nil:
		return "", err
	case utf8.RuneCountInString(answer) >= maxLine:
		return "", invalidAnswer{problem: fmt.Sprintf("the answer must be shorter than %d characters", maxLine)}
	case answer == "" && q.suggestion != "":
		fmt.Fprintf(t.out, "\x1b[1A\r%s%s\n", last, q.suggestion)
	}
	return strings.ReplaceAll(answer, lineBreak, "\n"), nil
}

// raw lets a function read single keys. io.EOF means Ctrl-C, or Ctrl-D in an empty line.
func (t *terminalAsker) raw(read func() error) error {
	defer enableSequences(t.out)()
	state, err := term.MakeRaw(int(t.keys.file.Fd()))
	if err != nil {
		return err
	}
	err = readOrInterrupt(t.interrupted, read)
	_ = term.Restore(int(t.keys.file.Fd()), state) // nothing can be done about an error
	if errors.Is(err, io.EOF) {
		err = errNothingWritten(ErrInterrupted)
	}
	if errors.Is(err, ErrInterrupted) {
		fmt.Fprint(t.out, noMarks+"\x1b[J\n") // if a signal has interrupted it, the question is still there
	}
	return err
}

// answerColumns is the part of a line that remains for the answer.
const answerColumns = 20

// lastLine returns what stands before the answer, which is drawn again with it: the question. It prints a question that leaves too little
// space for the answer.
func (t *terminalAsker) lastLine(question string) string {
	question = "? " + question
	if utf8.RuneCountInString(question) <= t.width-answerColumns {
		return question
	}
	for _, line := range words.Wrap(question, t.width) {
		fmt.Fprintln(t.out, line)
	}
	return ">"
}
