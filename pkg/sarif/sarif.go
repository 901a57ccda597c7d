// Package sarif writes findings as SARIF 2.1.0, which code hosts display at the lines of files. Write is its entry
// function.
package sarif

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"
)

// A Result is a finding in a file.
type Result struct {
	// Rule is the name of the check, in lower case with hyphens.
	Rule string
	// Level is error, warning or note.
	Level   string
	Message string
	// File is slash-separated and relative to the root of the repository.
	File string
	// Line and Column count from 1; 0 means unknown.
	Line, Column int
}

type (
	text struct {
		Text string `json:"text"`
	}
	region struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	artifact struct {
		URI string `json:"uri"`
	}
	physical struct {
		ArtifactLocation artifact `json:"artifactLocation"`
		Region           *region  `json:"region,omitempty"`
	}
	location struct {
		PhysicalLocation physical `json:"physicalLocation"`
	}
	result struct {
		RuleID    string     `json:"ruleId"`
		Level     string     `json:"level"`
		Message   text       `json:"message"`
		Locations []location `json:"locations"`
	}
	rule struct {
		ID string `json:"id"`
	}
	driver struct {
		Name           string `json:"name"`
		InformationURI string `json:"informationUri"`
		Rules          []rule `json:"rules"`
	}
	tool struct {
		Driver driver `json:"driver"`
	}
	notification struct {
		Level   string `json:"level"`
		Message text   `json:"message"`
	}
	invocation struct {
		ExecutionSuccessful        bool           `json:"executionSuccessful"`
		ToolExecutionNotifications []notification `json:"toolExecutionNotifications"`
	}
	run struct {
		Tool        tool         `json:"tool"`
		Invocations []invocation `json:"invocations,omitempty"`
		Results     []result     `json:"results"`
	}
	log struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []run  `json:"runs"`
	}
)

// Write writes the log of one run. Failures are errors without a file; with failures, the run is
// recorded as unsuccessful.
func Write(out io.Writer, results []Result, failures []string) error {
	r := run{Tool: tool{driver{"operon", "https://github.com/operon-sdk/operon", []rule{}}}, Results: []result{}}
	var ids []string
	for _, f := range results {
		at := physical{ArtifactLocation: artifact{(&url.URL{Path: f.File}).String()}}
		if f.Line > 0 {
			at.Region = &region{f.Line, f.Column}
		}
		r.Results = append(r.Results, result{f.Rule, f.Level, text{f.Message}, []location{{at}}})
		ids = append(ids, f.Rule)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, rule{id})
	}
	if len(failures) > 0 {
		failed := invocation{}
		for _, failure := range failures {
			failed.ToolExecutionNotifications = append(failed.ToolExecutionNotifications, notification{"error", text{failure}})
		}
		r.Invocations = []invocation{failed}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(log{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []run{r}})
}
