package validate

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// The levels of findings.
const (
	// Error makes a bundle invalid.
	Error = diag.Error
	// Warning should be fixed; --strict makes it an error.
	Warning = diag.Warning
	// Note is a hint, also with --strict.
	Note = diag.Note
)

// A Finding is a problem of a bundle.
type Finding struct {
	diag.Position
	Level diag.Severity
	// Rule is the name of the check, in lower case with hyphens.
	Rule string
	// Object is the object as in "Service smtp", empty for files without one.
	Object string
	// Field is the path within the object, such as spec.icon[0].mediatype; empty for the object itself.
	Field string
	// Text describes the problem.
	Text string
	// Fix describes how to solve it.
	Fix string
	// Message is the message of operator-sdk, empty if operator-sdk does not report the problem.
	Message string
}

// A Result holds the findings of one bundle.
type Result struct {
	// Bundle is the name of the bundle given by the caller.
	Bundle   string
	Findings []Finding
	// Unread is the error that prevented reading the bundle, nil if there is none. It is then the only finding.
	Unread error
}

// Passed reports whether no finding is an error.
func (r Result) Passed() bool { return r.Count(Error) == 0 }

// Count returns the number of findings of a level.
func (r Result) Count(level diag.Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

// String returns the position and text of the finding, and the fix on a line of its own.
func (f Finding) String() string { return f.Diagnostic().Error() }

// Diagnostic returns the finding as a diag.Finding, whose problem contains all parts of the text.
func (f Finding) Diagnostic() diag.Finding {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", f.Level)
	if f.Object != "" {
		b.WriteString(f.Object + ": ")
	}
	if f.Field != "" {
		b.WriteString(f.Field + ": ")
	}
	fmt.Fprintf(&b, "%s [%s]", f.Text, f.Rule)
	if f.Fix != "" {
		b.WriteString("\n    " + f.Fix)
	}
	return diag.Finding{Position: f.Position, Problem: b.String()}
}
