package validate

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// Level says how much a finding weighs.
type Level string

const (
	// Error is what keeps a bundle from being valid.
	Error Level = "error"
	// Warning should be corrected; --strict makes it an error.
	Warning Level = "warning"
	// Note is a hint, whatever is asked for.
	Note Level = "note"
)

// Finding is one thing that is wrong with a bundle.
type Finding struct {
	manifest.Position
	Level Level
	// Rule is the name of the check, in lower case with hyphens.
	Rule string
	// Object is the object as in "Service smtp", empty for files without one.
	Object string
	// Field is the path within the object, such as spec.icon[0].mediatype; empty for the whole of it.
	Field string
	// Text says what is wrong.
	Text string
	// Fix says what to write instead.
	Fix string
	// Message is the finding in the words of operator-sdk, empty for what operator-sdk does not find.
	Message string
}

// Result is all that was found in one bundle.
type Result struct {
	// Bundle is the bundle as the caller named it.
	Bundle   string
	Findings []Finding
	// Unread is why the bundle could not be read, nil for one that was. The finding is the only one then.
	Unread error
}

// Passed tells whether no finding is an error.
func (r Result) Passed() bool { return r.Count(Error) == 0 }

// Count counts the findings of a level.
func (r Result) Count(level Level) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

// String gives the finding as text: the place, what is wrong, and the fix on a line of its own.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: ", f.Position, f.Level)
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
	return b.String()
}
