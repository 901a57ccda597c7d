// Package diag describes problems of input. A Finding is one problem: of a value that the user gave, or at a Position in a file.
// Findings is the error that lists several. IsUsage reports whether an error was caused by user input.
package diag

import (
	"cmp"
	"fmt"
	"strings"
	"time"
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

// A Severity is the weight of a finding. The zero value means that the context decides: findings in an error are errors.
type Severity string

const (
	// Error is the severity of a problem that makes the input invalid.
	Error Severity = "error"
	// Warning is the severity of a problem that should be corrected.
	Warning Severity = "warning"
	// Note is the severity of information, such as a part that was left out.
	Note Severity = "note"
	// Progress is the severity of a step that takes long, or of a recovery of an interrupted command.
	Progress Severity = "progress"
	// Detail is the severity of a step of a command, and of where its input is from.
	Detail Severity = "detail"
)

// A Finding is a problem: of a place in a file if File is set, or else of a value that the user gave, or of an object.
type Finding struct {
	Severity Severity
	// Rule is the name of the check, in lower case with hyphens, such as misplaced-marker, or empty.
	Rule string
	Position
	// Object is what the problem is about, such as "Service smtp", or empty.
	Object string
	// Field is the source of a value, such as --kind, or the path of a field in a file, such as spec.icon[0].mediatype.
	Field string
	// Value is the value as given.
	Value string
	// Problem continues a sentence that begins with the field, the object or the position: "must start with an upper-case letter".
	Problem string
	// Suggestion is a valid value, or empty.
	Suggestion string
	// Fix is how to correct the problem, or empty.
	Fix string
	// Related are circumstances that explain the problem: conditions, events, lines of a log.
	Related []Finding
	// Time is when a circumstance happened, or zero. The message begins with its time of day in UTC.
	Time time.Time `json:",omitzero"`
	// Count is the number of places that have the problem if they are many, of which this is the first. See Findings.Collapse.
	Count int
	// Long selects the longer of two texts: it begins with the severity, contains the object, the field and the rule, and ends with a
	// line for the fix.
	Long bool
	// Listed is the text in a list whose heading says the problem, such as only the position, or empty. See List.
	Listed string
	// Err is the cause, or nil. It is not part of a finding that is stored as JSON.
	Err error `json:"-"`
}

// Place returns a finding for a list of places: its text is the position, and a detail in parentheses unless that is empty.
func Place(at Position, detail, problem string) Finding {
	listed := at.String()
	if detail != "" {
		listed += " (" + detail + ")"
	}
	return Finding{Position: at, Problem: problem, Listed: listed}
}

// Error returns the position and the message, or the text in a list.
func (f Finding) Error() string {
	if f.Listed != "" {
		return f.Listed
	}
	return f.Full()
}

// Full returns the position and the message.
func (f Finding) Full() string {
	if f.File == "" {
		return f.Message()
	}
	return f.Position.String() + ": " + f.Message()
}

// Message returns the text of the finding without its position. If the finding is not about a file, it consists of field, value,
// problem and suggestion, or else of object, problem and fix. Empty parts are omitted. Related findings follow, one per line.
func (f Finding) Message() string {
	if f.Count > 1 {
		f.Problem += fmt.Sprintf(" (and %d more)", f.Count-1)
	}
	f.Field = EscapeLine(f.Field)
	text := f.text()
	if !f.Time.IsZero() {
		text = f.Time.UTC().Format("15:04:05.000 ") + text
	}
	for _, related := range f.Related {
		text += "\n" + related.Error()
	}
	return text
}

func (f Finding) text() string {
	switch {
	case f.Long && f.Fix != "":
		return f.long() + "\n    " + f.Fix
	case f.Long:
		return f.long()
	case f.File != "" || f.Field == "":
		text := f.Problem
		if f.Object != "" {
			text = f.Object + " " + text
		}
		if f.Fix != "" {
			text += "; " + f.Fix
		}
		return text
	case f.Value == "" && f.Suggestion == "":
		return f.Field + " " + f.Problem
	case f.Value == "":
		return fmt.Sprintf("%s %s; for example %q", f.Field, f.Problem, f.Suggestion)
	case f.Suggestion == "":
		return fmt.Sprintf("%s %q: %s", f.Field, f.Value, f.Problem)
	}
	return fmt.Sprintf("%s %q: %s; did you mean %q?", f.Field, f.Value, f.Problem, f.Suggestion)
}

func (f Finding) long() string {
	return fmt.Sprintf("%s: %s%s [%s]", cmp.Or(f.Severity, Error), f.Subject(), f.Problem, f.Rule)
}

// Subject returns object and field, each with a colon and a space behind it.
func (f Finding) Subject() string {
	text := ""
	for _, part := range []string{f.Object, f.Field} {
		if part != "" {
			text += part + ": "
		}
	}
	return text
}

// Is reports whether target is a finding with the same position, text and rule, for errors.Is.
func (f Finding) Is(target error) bool {
	other, ok := target.(Finding)
	return ok && f.identity() == other.identity()
}

// Unwrap returns the cause.
func (f Finding) Unwrap() error { return f.Err }

// UsageError reports whether the finding is about a value that the user gave, not about a file or an object.
func (f Finding) UsageError() bool { return f.File == "" && f.Object == "" && f.Field != "" }
