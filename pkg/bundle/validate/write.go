package validate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/report"
)

// The output formats.
const (
	Text       = "text"
	JSON       = "json"
	JSONAlpha1 = "json-alpha1"
	SARIF      = "sarif"
)

// Formats returns all output formats.
func Formats() []string { return []string{Text, JSONAlpha1, JSON, SARIF} }

// A Writer writes the results of one call: Result for each bundle, then Close.
type Writer struct {
	out    io.Writer
	format string
	// results collects the results for formats that write all at once.
	results []Result
	n       int
	passed  bool
}

// NewWriter returns a Writer for one of Formats.
func NewWriter(out io.Writer, format string) *Writer {
	return &Writer{out: out, format: format, passed: true}
}

// Result writes the findings of a bundle; text and json are written immediately.
func (w *Writer) Result(r Result) error {
	w.n++
	w.passed = w.passed && r.Passed()
	switch w.format {
	case Text:
		return w.text(r)
	case JSON:
		return w.json(r)
	}
	w.results = append(w.results, r)
	return nil
}

// text writes the findings, errors first if it shortens the list.
func (w *Writer) text(r Result) error {
	findings := r.Findings
	if len(findings) > diag.MaxListed {
		weight := map[diag.Severity]int{diag.Error: 0, diag.Warning: 1, diag.Note: 2}
		findings = slices.Clone(findings)
		slices.SortStableFunc(findings, func(a, b diag.Finding) int { return weight[a.Severity] - weight[b.Severity] })
	}
	first, rest := diag.Shorten(findings, "finding")
	for _, f := range first {
		if _, err := fmt.Fprintln(w.out, diag.Continue(f.Error())); err != nil {
			return err
		}
	}
	for _, line := range rest {
		if _, err := fmt.Fprintf(w.out, "%s; list all with --output json\n", line); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the end of the output.
func (w *Writer) Close() error {
	switch w.format {
	case JSON:
		start := "\n  ],\n"
		if w.n == 0 {
			start = "{\n  \"bundles\": [],\n"
		}
		_, err := fmt.Fprintf(w.out, "%s  \"passed\": %v\n}\n", start, w.passed)
		return err
	case JSONAlpha1:
		return w.alpha1()
	case SARIF:
		return w.sarif()
	}
	return nil
}

type jsonFinding struct {
	Level   diag.Severity `json:"level"`
	Rule    string        `json:"rule"`
	File    string        `json:"file"`
	Line    int           `json:"line,omitempty"`
	Column  int           `json:"column,omitempty"`
	Object  string        `json:"object,omitempty"`
	Field   string        `json:"field,omitempty"`
	Message string        `json:"message"`
	Fix     string        `json:"fix,omitempty"`
}

// json writes one bundle of the list that Close ends.
func (w *Writer) json(r Result) error {
	type bundle struct {
		Bundle   string        `json:"bundle"`
		Passed   bool          `json:"passed"`
		Findings []jsonFinding `json:"findings"`
	}
	b := bundle{r.Bundle, r.Passed(), []jsonFinding{}}
	for _, f := range r.Findings {
		b.Findings = append(b.Findings, jsonFinding{f.Severity, f.Rule, f.File, f.Line, f.Column, f.Object, f.Field, f.Problem, f.Fix})
	}
	start := ",\n    "
	if w.n == 1 {
		start = "{\n  \"bundles\": [\n    "
	}
	data, err := json.MarshalIndent(b, "    ", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.out, "%s%s", start, data)
	return err
}

// alpha1 writes the format of operator-sdk with its messages. Findings that operator-sdk does not report are omitted
// unless they are errors: scripts rely on known messages.
func (w *Writer) alpha1() error {
	type output struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	result := struct {
		Passed  bool     `json:"passed"`
		Outputs []output `json:"outputs"`
	}{w.passed, []output{}}
	for _, r := range w.results {
		for _, f := range r.Findings {
			message := sdkMessage(f)
			if message == "" {
				if f.Severity != diag.Error {
					continue
				}
				f.Fix = ""
				message = f.Error()
			}
			result.Outputs = append(result.Outputs, output{string(f.Severity), message})
		}
	}
	data, err := json.MarshalIndent(result, "", "    ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.out, "%s\n", data)
	return err
}

func (w *Writer) sarif() error {
	var findings diag.Findings
	for _, r := range w.results {
		findings = append(findings, r.Findings...)
	}
	return report.SARIF(w.out, findings)
}
