package prompt

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/AlecAivazis/survey/v2"
	"github.com/AlecAivazis/survey/v2/terminal"
	"golang.org/x/term"

	"github.com/operon-sdk/operon/cmd/internal/words"
)

// maxRows is the number of options that are on the screen at the same time.
const maxRows = 15

// choose lets the user choose one of the options with the arrow keys, or filter them.
func (t *terminalAsker) choose(q Question) (chosen int, err error) {
	list := &survey.Select{Message: t.message(q.title()), Default: q.suggested(), PageSize: maxRows}
	for _, option := range q.Options {
		list.Options = append(list.Options, option.label())
	}
	err = t.survey(list, &chosen)
	return chosen, err
}

func (t *terminalAsker) confirm(question string, suggestion bool) (answer bool, err error) {
	err = t.survey(&survey.Confirm{Message: t.message(question), Default: suggestion}, &answer)
	return answer, err
}

// message prints all lines of a long question but the last, which it returns: survey draws its message again with the answer.
func (t *terminalAsker) message(question string) string {
	lines := words.Wrap(question, t.width-answerColumns)
	for _, line := range lines[:len(lines)-1] {
		fmt.Fprintln(t.out, line)
	}
	return lines[len(lines)-1]
}

// survey asks with a prompt of survey, which changes the mode of the terminal.
func (t *terminalAsker) survey(prompt survey.Prompt, answer any) error {
	file := t.keys.file
	state, stateErr := term.GetState(int(file.Fd()))
	err := readOrInterrupt(t.interrupted, func() error {
		return survey.AskOne(prompt, answer, survey.WithStdio(surveyKeys{file, t.keys}, t.out, t.out))
	})
	if errors.Is(err, ErrInterrupted) && stateErr == nil {
		_ = term.Restore(int(file.Fd()), state) // survey still reads
		cursor := terminal.Cursor{In: file, Out: t.out}
		_, _ = cursor.Restore(), cursor.Show() // below the list
		fmt.Fprintln(t.out)
	}
	if errors.Is(err, terminal.InterruptErr) || errors.Is(err, io.EOF) {
		return errNothingWritten(ErrInterrupted)
	}
	return err
}

// surveyKeys reads keys as survey understands them.
type surveyKeys struct {
	*os.File
	keys *keys
}

// Read reads at most a line, so that the next question gets what was typed ahead.
func (s surveyKeys) Read(p []byte) (int, error) {
	if s.keys.in.Buffered() == 0 {
		s.keys.last = nil // Enter is \n in survey's mode, which must not seem to belong to the \r of a line that x/term has read
	}
	n, err := s.keys.Read(p)
	for i, b := range p[:n] {
		switch {
		case b == 0x15: // Ctrl-U
			p[i] = terminal.KeyDeleteLine
		case b == terminal.KeyEndTransmission: // which would choose, and panic if the filter matches nothing
			p[i] = terminal.KeyInterrupt
		case b == terminal.KeyEscape && (i+1 == n || p[i+1] != '[' && p[i+1] != 'O'): // which would be an error, or begin the mode of vi
			p[i] = terminal.IgnoreKey
		}
	}
	return n, err
}
