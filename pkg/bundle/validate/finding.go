package validate

import (
	"fmt"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A Result holds the findings of one bundle.
type Result struct {
	// Bundle is the name of the bundle given by the caller.
	Bundle string
	// Findings have the severity Error, Warning, which --strict makes an Error, or Note, which is a hint. Their cause is the error of
	// operator-sdk, or nil if it does not report the problem.
	Findings diag.Findings
	// Unread is the error that prevented reading the bundle, nil if there is none. It is then the only finding.
	Unread error
}

// Passed reports whether no finding is an error.
func (r Result) Passed() bool { return r.Count(diag.Error) == 0 }

// Count returns the number of findings of a severity.
func (r Result) Count(level diag.Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == level {
			n++
		}
	}
	return n
}

// sdkMessage returns the message of operator-sdk for a finding, the cause of which is the error of its validators. It is empty if
// operator-sdk does not report the problem.
func sdkMessage(f diag.Finding) string {
	if f.Err == nil {
		return ""
	}
	return f.Err.Error()
}

// Summary returns the verdict with the number of errors and warnings, as one line.
func (r Result) Summary() string {
	verdict := "valid"
	if !r.Passed() {
		verdict = "not valid"
	}
	return fmt.Sprintf("%s: %s (%s, %s)", r.Bundle, verdict, diag.Count(r.Count(diag.Error), "error"), diag.Count(r.Count(diag.Warning), "warning"))
}

// Own returns the number of findings below an error that operator-sdk does not report.
func (r Result) Own() int {
	own := 0
	for _, f := range r.Findings {
		if f.Err == nil && f.Severity != diag.Error {
			own++
		}
	}
	return own
}
