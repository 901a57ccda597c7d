package project

import (
	"fmt"
	"strings"
)

// Finding is one thing that is wrong with a value that a person gave.
type Finding struct {
	// Field is where the value came from, as the person wrote it: --kind.
	Field string
	// Value is the value as given.
	Value string
	// Problem says what is wrong, as a sentence's second half: "must start with an upper-case letter".
	Problem string
	// Suggestion is a value that would pass, empty where none is at hand.
	Suggestion string
}

// String gives the finding as one line.
func (f Finding) String() string {
	line := fmt.Sprintf("%s %q: %s", f.Field, f.Value, f.Problem)
	if f.Suggestion != "" {
		line += fmt.Sprintf("; did you mean %q?", f.Suggestion)
	}
	return line
}

// Findings are all findings of one command, so that a person corrects them in one go.
type Findings []Finding

// Error lists the findings, one a line.
func (f Findings) Error() string {
	lines := make([]string, len(f))
	for i, finding := range f {
		lines[i] = finding.String()
	}
	return strings.Join(lines, "\n")
}

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
