package report

import (
	"cmp"
	"encoding/json"
	"io"
	"net/url"
	"slices"

	"github.com/operon-sdk/operon/pkg/diag"
)

// The parts of SARIF 2.1.0, which code hosts display at the lines of files.
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

// SARIF writes the log of one run. Findings whose file is relative to the root of the repository are results. Errors without a file are
// notifications, and the run is recorded as unsuccessful. Other findings without a file are left out.
func SARIF(out io.Writer, findings diag.Findings) error {
	r := run{Tool: tool{driver{"operon", "https://github.com/operon-sdk/operon", []rule{}}}, Results: []result{}}
	failed := invocation{}
	var ids []string
	for _, f := range findings {
		level := cmp.Or(f.Severity, diag.Error)
		switch {
		case f.File != "":
			at := physical{ArtifactLocation: artifact{(&url.URL{Path: f.File}).String()}}
			if f.Line > 0 {
				at.Region = &region{f.Line, f.Column}
			}
			id := cmp.Or(f.Rule, "source-"+string(level))
			r.Results = append(r.Results, result{id, string(level), text{sarifMessage(f)}, []location{{at}}})
			ids = append(ids, id)
		case level == diag.Error:
			failed.ToolExecutionNotifications = append(failed.ToolExecutionNotifications, notification{string(level), text{f.Message()}})
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, rule{id})
	}
	if len(failed.ToolExecutionNotifications) > 0 {
		r.Invocations = []invocation{failed}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(log{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []run{r}})
}

// sarifMessage returns the message of a result. Severity and rule are fields of their own.
func sarifMessage(f diag.Finding) string {
	if !f.Long {
		return f.Message()
	}
	message := f.Subject() + f.Problem
	if f.Fix != "" {
		message += "\n" + f.Fix
	}
	return message
}
