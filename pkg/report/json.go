package report

import (
	"cmp"

	"github.com/operon-sdk/operon/pkg/diag"
)

// An Entry is a finding in JSON. docs/ci.md describes its keys.
type Entry struct {
	File       string        `json:"file,omitempty"`
	Line       int           `json:"line,omitempty"`
	Column     int           `json:"column,omitempty"`
	Message    string        `json:"message"`
	Rule       string        `json:"rule,omitempty"`
	Severity   diag.Severity `json:"severity"`
	Object     string        `json:"object,omitempty"`
	Field      string        `json:"field,omitempty"`
	Value      string        `json:"value,omitempty"`
	Suggestion string        `json:"suggestion,omitempty"`
	Fix        string        `json:"fix,omitempty"`
	Related    []Entry       `json:"related,omitempty"`
}

// Entries returns findings for JSON. No findings are an empty array.
func Entries(findings diag.Findings) []Entry {
	entries := []Entry{}
	for _, f := range findings {
		e := Entry{
			Message: f.Message(), Rule: f.Rule, Severity: cmp.Or(f.Severity, diag.Error), Object: f.Object, Field: f.Field, Value: f.Value,
			Suggestion: f.Suggestion, Fix: f.Fix,
		}
		if f.File != "" {
			e.File, e.Line, e.Column = f.File, f.Line, f.Column
		}
		if len(f.Related) > 0 {
			e.Related = Entries(f.Related)
		}
		entries = append(entries, e)
	}
	return entries
}
