package manifest

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Position is a place in a file, for people. Line and Column start at 1; 0 means that it is not known.
type Position struct {
	File         string
	Line, Column int
}

func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problem is something wrong at a place, with what to do about it.
type Problem struct {
	Position
	Text string
	// Field is the path of the field at fault; empty where it is not known.
	Field string
	// Foreign tells that a document is YAML, but of something else than Kubernetes.
	Foreign bool
	// bound is set if the text is out of the bounds of safeyaml.
	bound *safeyaml.Error
}

func (p Problem) String() string { return p.Position.String() + ": " + p.Text }

// Problems are all that is wrong with some input, so that a person corrects it in one go.
type Problems []Problem

func (p Problems) Error() string {
	first, rest := Shorten(p, "problem")
	lines := make([]string, len(first))
	for i, problem := range first {
		lines[i] = problem.String()
	}
	return strings.Join(append(lines, rest...), "\n")
}

// Unwrap returns the bounds that the input exceeds.
func (p Problems) Unwrap() []error {
	var errs []error
	for _, problem := range p {
		if problem.bound != nil {
			errs = append(errs, problem.bound)
		}
	}
	return errs
}

// MaxListed is the number of findings that are printed as text.
const MaxListed = 50

// Shorten returns the findings to print, and the line that counts the others, if there are any.
func Shorten[T any](all []T, what string) (first []T, rest []string) {
	switch more := len(all) - MaxListed; {
	case more <= 0:
		return all, nil
	case more == 1:
		return all[:MaxListed], []string{"and 1 more " + what}
	default:
		return all[:MaxListed], []string{fmt.Sprintf("and %d more %ss", more, what)}
	}
}

// Err returns the problems as an error, nil where there are none.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}
