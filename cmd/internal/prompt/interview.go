package prompt

import (
	"fmt"
	"io"
	"strings"

	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/diag"
)

// Answers are the answers of an interview by the names of its steps.
type Answers map[string]string

// A Step is a question of an interview.
type Step struct {
	// Name identifies the step. It is the flag that gives the same answer, without dashes, unless the options have their own flags.
	Name string
	Question
	// Fixed is the answer if only one is possible. The question is not asked.
	Fixed string
	// Value returns the value of the flag for an answer; nil means that it is the answer.
	Value func(answer string) string
	// Decides means that the answer decides which other questions follow.
	Decides bool
}

// flags returns the flags that give an answer.
func (s Step) flags(answer string) []string {
	if i := s.option(answer); i >= 0 && s.Options[i].Flags != nil {
		return s.Options[i].Flags
	}
	if answer == "" {
		return nil
	}
	if s.Value != nil {
		answer = s.Value(answer)
	}
	return []string{"--" + s.Name, answer}
}

// shown returns an answer as the user has seen it.
func (s Step) shown(answer string) string {
	if i := s.option(answer); i >= 0 {
		return s.Options[i].label()
	}
	return answer
}

// An Interview asks several questions. With Review, the user can change the answers before they are used.
type Interview struct {
	Prompter Prompter
	// Steps returns the questions in their order, as far as the given answers decide which ones there are.
	Steps func(Answers) []Step
	// Review prints the number of questions to Out, and at the end the command line with the flags of all answers, which the user confirms.
	Review bool
	Out    io.Writer
	// Width is the number of columns for messages on Out.
	Width int
	// Command are the words of the command without the flags of the answers.
	Command []string

	answers, previous Answers
}

// ErrCanceled means that the user does not want to use the answers.
var ErrCanceled = errNothingWritten(fmt.Errorf("canceled"))

// Run asks all questions and returns the answers. After an error, Flags are the flags of the answers so far.
func (v *Interview) Run() (Answers, error) {
	v.answers, v.previous = Answers{}, Answers{}
	announced := false
	for {
		steps := v.Steps(v.answers)
		i, number, total := v.next(steps)
		if i < 0 {
			if again, err := v.review(steps); err != nil || !again {
				return v.answers, err
			}
			continue
		}
		step := steps[i]
		if v.Review && !step.Decides && total > 1 && len(v.previous) == 0 {
			if !announced {
				v.printf("%d questions follow. You can change your answers before anything is written.", total)
				announced = true
			}
			step.Number = fmt.Sprintf("%d of %d", number, total)
		}
		if before, ok := v.previous[step.Name]; ok {
			step.Default = before
		}
		answer, err := v.Prompter.Input(step.Question)
		if err != nil {
			return v.answers, err
		}
		v.answers[step.Name] = answer
	}
}

// next returns the index of the first question without an answer, or -1, its number, and how many numbered questions there are.
func (v *Interview) next(steps []Step) (next, number, total int) {
	next = -1
	for i, step := range steps {
		if step.Fixed != "" {
			continue
		}
		_, answered := v.answers[step.Name]
		if !step.Decides {
			total++
		}
		if !answered && next < 0 {
			next, number = i, total
		}
	}
	return next, number, total
}

// Flags returns the flags that give the answers.
func (v *Interview) Flags() []string {
	var flags []string
	for _, step := range v.Steps(v.answers) {
		answer, answered := v.answers[step.Name]
		if step.Fixed != "" {
			answer, answered = step.Fixed, true
		}
		if answered {
			flags = append(flags, step.flags(answer)...)
		}
	}
	return flags
}

// review lets the user confirm two or more answers. It removes an answer that the user wants to change.
func (v *Interview) review(steps []Step) (again bool, err error) {
	change := Question{Text: "Which answer do you want to change?"}
	for _, step := range steps {
		if step.Fixed == "" {
			change.Options = append(change.Options, Option{Value: step.Name, Text: strings.TrimRight(step.Text, "?") + ": " + step.shown(v.answers[step.Name])})
		}
	}
	if !v.Review || len(change.Options) < 2 {
		return false, nil
	}
	v.printf("The same command without questions:")
	fmt.Fprintf(v.Out, "  %s\n", diag.Escape(words.Join(append(v.Command[:len(v.Command):len(v.Command)], v.Flags()...))))
	const yes, other, no = "yes", "other", "no"
	choice, err := v.choose(Question{Text: "Go on with these answers?", Options: []Option{
		{Value: yes, Text: "Yes"}, {Value: other, Text: "Change an answer"}, {Value: no, Text: "No, write nothing"},
	}})
	switch {
	case err != nil:
		return false, err
	case choice == no:
		return false, ErrCanceled
	case choice == yes:
		return false, nil
	}
	name, err := v.choose(change)
	if err == nil {
		v.previous[name] = v.answers[name]
		delete(v.answers, name)
	}
	return true, err
}

// choose asks for one of the question's options.
func (v *Interview) choose(q Question) (string, error) {
	choice, err := v.Prompter.Input(q)
	if err == nil && q.option(choice) < 0 {
		err = fmt.Errorf("%w for prompt %q", ErrBadAnswers, q.Text) // a Prompter of another program
	}
	return choice, err
}

func (v *Interview) printf(format string, args ...any) {
	for _, line := range words.Wrap(fmt.Sprintf(format, args...), v.Width) {
		fmt.Fprintln(v.Out, line)
	}
}
