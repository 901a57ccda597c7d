package manifest

import (
	"fmt"
	"strings"
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
}

func (p Problem) String() string { return p.Position.String() + ": " + p.Text }

// Problems are all that is wrong with some input, so that a person corrects it in one go.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the problems as an error, nil where there are none.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}
