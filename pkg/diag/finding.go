// Package diag describes problems of input. A Finding is one problem: of a value that the user gave, or at a Position in a file.
// Findings is the error that lists several. IsUsage reports whether an error was caused by user input.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Position is a place in a file.
type Position struct {
	// File is slash-separated and relative to the directory of the project or of the input.
	File string
	// Line and Column count from 1; 0 means unknown.
	Line, Column int
}

// String returns the position as FILE:LINE:COLUMN, without what is unknown. The name of the file is escaped.
func (p Position) String() string {
	file := EscapeLine(p.File)
	switch {
	case p.Line == 0:
		return file
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", file, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Column)
}

// Compare orders positions by file, line and column.
func (p Position) Compare(other Position) int {
	return cmp.Or(strings.Compare(p.File, other.File), p.Line-other.Line, p.Column-other.Column)
}

// Severity is the weight of a finding. The zero value is that of an error.
type Severity string

const (
	// Error is the severity of a problem that makes the input invalid.
	Error Severity = "error"
	// Warning is the severity of a problem that should be corrected.
	Warning Severity = "warning"
	// Note is the severity of information.
	Note Severity = "note"
)

// A Finding is a problem of a value that the user gave, or of a place in a file if File is set.
type Finding struct {
	Position
	// Field is the source of a value, such as --kind, or the path of a field in a file, such as spec.icon[0].mediatype.
	Field string
	// Value is the value as given.
	Value string
	// Problem continues a sentence that begins with the field or the position: "must start with an upper-case letter".
	Problem string
	// Suggestion is a valid value, or empty.
	Suggestion string
	// Fix is how to correct the problem, or empty.
	Fix string
	// Rule is the name of the check, in lower case with hyphens, such as misplaced-marker, or empty.
	Rule string
	// Err is the cause, or nil.
	Err error
}

// Error returns position, problem and fix if the finding is about a file, or else field, value, problem and suggestion. Empty
// parts are omitted.
func (f Finding) Error() string {
	f.Field = EscapeLine(f.Field)
	switch {
	case f.File != "":
		return f.Position.String() + ": " + f.text()
	case f.Field == "":
		return f.text()
	case f.Value == "" && f.Suggestion == "":
		return f.Field + " " + f.Problem
	case f.Value == "":
		return fmt.Sprintf("%s %s; for example %q", f.Field, f.Problem, f.Suggestion)
	case f.Suggestion == "":
		return fmt.Sprintf("%s %q: %s", f.Field, f.Value, f.Problem)
	}
	return fmt.Sprintf("%s %q: %s; did you mean %q?", f.Field, f.Value, f.Problem, f.Suggestion)
}

// text returns the problem and the fix.
func (f Finding) text() string {
	if f.Fix == "" {
		return f.Problem
	}
	return f.Problem + "; " + f.Fix
}

// Unwrap returns the cause.
func (f Finding) Unwrap() error { return f.Err }

// UsageError reports whether the finding is about a value that the user gave, not about a file.
func (f Finding) UsageError() bool { return f.File == "" && f.Field != "" }

// Findings are all findings of an input, so that the user can correct them at once.
type Findings []Finding

// Error lists the first findings, one per line.
func (f Findings) Error() string { return Lines(f, "finding") }

// Unwrap returns the findings.
func (f Findings) Unwrap() []error { return Errors(f) }

// Add adds a finding about a value that the user gave.
func (f *Findings) Add(field, value, problem string) {
	*f = append(*f, Finding{Field: field, Value: value, Problem: problem})
}

// Addf adds a finding about a place in a file.
func (f *Findings) Addf(at Position, format string, args ...any) {
	*f = append(*f, Finding{Position: at, Problem: fmt.Sprintf(format, args...)})
}

// Err returns the findings as an error, or nil if there are none.
func (f Findings) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Sort sorts findings by position and problem, in place, and returns them without duplicates.
func (f Findings) Sort() Findings {
	slices.SortFunc(f, func(a, b Finding) int {
		return cmp.Or(a.Position.Compare(b.Position), strings.Compare(a.Problem, b.Problem))
	})
	return slices.CompactFunc(f, func(a, b Finding) bool { return a.Position == b.Position && a.Problem == b.Problem })
}
