package project

import "github.com/operon-sdk/operon/pkg/diag"

// These names are used until all packages use those of diag.
type (
	Finding  = diag.Finding
	Findings = diag.Findings
)

// required is the problem of an empty value.
const required = "is required"

// one returns the finding of a validator that stops at the first problem of a value.
func one(field, value, problem, suggestion string) Findings {
	if suggestion == value {
		suggestion = ""
	}
	return Findings{{Field: field, Value: value, Problem: problem, Suggestion: suggestion}}
}
