package prompt

import (
	"errors"
	"fmt"
	"os"

	"github.com/AlecAivazis/survey/v2"
	"github.com/AlecAivazis/survey/v2/terminal"
	"golang.org/x/term"

	"github.com/operon-sdk/operon/cmd/internal/words"
)

// surveyAsker asks at a terminal, where answers can be edited.
type surveyAsker struct {
	in, out     *os.File
	width       int
	interrupted <-chan struct{}
}

func (s *surveyAsker) confirm(question string, suggestion bool) (answer bool, err error) {
	err = s.ask(&survey.Confirm{Message: s.lastLine(question), Default: suggestion}, &answer)
	return answer, err
}

func (s *surveyAsker) line(q Question) (answer string, err error) {
	message := q.String()
	if columns := len(message) + len(q.Default); columns > s.width-answerColumns && q.Example != "" {
		s.print("Example: " + q.Example)
		message = q.Text
	}
	err = s.ask(&survey.Input{Message: s.lastLine(message) + ":", Default: q.Default}, &answer)
	return answer, err
}

// answerColumns is the part of a line that remains for the answer.
const answerColumns = 20

// lastLine prints all lines of a long question but the last, which it returns: survey draws its message again with the answer.
func (s *surveyAsker) lastLine(question string) string {
	lines := words.Wrap(question, s.width-answerColumns)
	s.print(lines[:len(lines)-1]...)
	return lines[len(lines)-1]
}

func (s *surveyAsker) print(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(s.out, line)
	}
}

func (s *surveyAsker) ask(prompt survey.Prompt, answer any) error {
	state, stateErr := term.GetState(int(s.in.Fd()))
	err := readOrInterrupt(s.interrupted, func() error {
		return survey.AskOne(prompt, answer, survey.WithStdio(s.in, s.out, s.out))
	})
	if errors.Is(err, ErrInterrupted) && stateErr == nil {
		_ = term.Restore(int(s.in.Fd()), state) // survey still reads
		fmt.Fprintln(s.out)
	}
	if errors.Is(err, terminal.InterruptErr) {
		return fmt.Errorf("%w; nothing was written", ErrInterrupted)
	}
	return err
}
