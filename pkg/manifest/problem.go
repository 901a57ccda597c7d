package manifest

import (
	"fmt"

	"github.com/operon-sdk/operon/pkg/listing"
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
	Problem string
	// Field is the path of the field at fault; empty where it is not known.
	Field string
	// Foreign tells that a document is YAML, but of something else than Kubernetes.
	Foreign bool
	// bound is set if the text is out of the bounds of safeyaml.
	bound *safeyaml.Error
}

func (p Problem) Error() string { return p.Position.String() + ": " + p.Problem }

// Unwrap returns the bound that the input exceeds, if that is the problem.
func (p Problem) Unwrap() error {
	if p.bound == nil {
		return nil
	}
	return p.bound
}

// Problems are all problems of some input, so that the user corrects them at once.
type Problems []Problem

func (p Problems) Error() string { return listing.Lines(p, "problem") }

// Unwrap returns the problems.
func (p Problems) Unwrap() []error { return listing.Errors(p) }

// Err returns the problems as an error, nil where there are none.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}
