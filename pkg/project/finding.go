package project

import "github.com/operon-sdk/operon/pkg/diag"

// required is the problem of an empty value.
const required = "is required"

// one returns the finding of a validator that stops at the first problem of a value.
func one(field, value, problem, suggestion string) diag.Findings {
	if suggestion == value {
		suggestion = ""
	}
	return diag.Findings{{Field: field, Value: value, Problem: problem, Suggestion: suggestion}}
}
