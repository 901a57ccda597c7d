package project

import (
	"fmt"

	"github.com/operon-sdk/operon/pkg/listing"
)

// A Finding is a problem of a value that the user gave.
type Finding struct {
	// Field is the source of the value, such as --kind.
	Field string
	// Value is the value as given.
	Value string
	// Problem continues a sentence that begins with the field: "must start with an upper-case letter".
	Problem string
	// Suggestion is a valid value, or empty.
	Suggestion string
}

// required is the problem of an empty value.
const required = "is required"

// Error returns the finding as one line. An empty value is not shown.
func (f Finding) Error() string {
	switch {
	case f.Value == "" && f.Suggestion == "":
		return f.Field + " " + f.Problem
	case f.Value == "":
		return fmt.Sprintf("%s %s; for example %q", f.Field, f.Problem, f.Suggestion)
	case f.Suggestion == "":
		return fmt.Sprintf("%s %q: %s", f.Field, f.Value, f.Problem)
	}
	return fmt.Sprintf("%s %q: %s; did you mean %q?", f.Field, f.Value, f.Problem, f.Suggestion)
}

// Findings are all findings of one command, so that the user corrects them at once.
type Findings []Finding

func (f Findings) Error() string { return listing.Lines(f, "finding") }

// Unwrap returns the findings.
func (f Findings) Unwrap() []error { return listing.Errors(f) }

// Err returns the findings as an error, nil where there are none. A nil Findings in an error
// interface would not be a nil error.
func (f Findings) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// one is the finding of a validator that stops at a value's first problem.
func one(field, value, problem, suggestion string) Findings {
	if suggestion == value {
		suggestion = ""
	}
	return Findings{{Field: field, Value: value, Problem: problem, Suggestion: suggestion}}
}
