package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/report"
)

// group is an error with a heading, a finding in a file, one about an object, one about a flag, an error without facts, and advice.
func group() error {
	return fmt.Errorf("%w", &diag.Group{
		Heading: "2 things are wrong:",
		Err: errors.Join(
			diag.Findings{
				{Position: diag.Position{File: "api/v1/a.go", Line: 3, Column: 5}, Field: "spec.size", Problem: "must be a number", Fix: "write one", Rule: "json-string"},
				{Object: "Service smtp", Problem: "is left out", Fix: "add it"},
				{Object: "Service smtp", Problem: "is left out", Fix: "add it"},
			},
			diag.Finding{Field: "--kind", Value: "app", Problem: "must start with an upper-case letter", Suggestion: "App"},
			errors.New("no space left:\non /tmp"),
		),
		Advice: []string{"correct them first"},
	})
}

// TestFormats prints one group in all four formats.
func TestFormats(t *testing.T) {
	t.Parallel()
	var findings diag.Findings
	var advice []string
	for _, s := range diag.Sections(group()) {
		findings, advice = append(findings, s.All()...), append(advice, s.Advice...)
	}
	same := func(f diag.Finding) diag.Finding { return f }
	for name, test := range map[string]struct {
		print func(out *bytes.Buffer)
		want  string
	}{
		"text": {func(out *bytes.Buffer) { report.Text(out, out, "error:", group()) }, `error: 2 things are wrong:
  api/v1/a.go:3:5: must be a number; write one [json-string]
  Service smtp is left out; add it
  --kind "app": must start with an upper-case letter; did you mean "App"?
  no space left:
  on /tmp
correct them first
`},
		"GitHub": {func(out *bytes.Buffer) { report.GitHub(out, out, group(), same) }, `::error::2 things are wrong:
::error file=api/v1/a.go,line=3,col=5::must be a number; write one [json-string]
::error::Service smtp is left out; add it
::error::--kind "app": must start with an upper-case letter; did you mean "App"?
::error::no space left:%0Aon /tmp
correct them first
`},
		"JSON": {func(out *bytes.Buffer) {
			for _, entry := range report.Entries(findings) {
				line, _ := json.Marshal(entry)
				out.Write(append(line, '\n'))
			}
			fmt.Fprintln(out, advice)
		}, `{"message":"2 things are wrong:","severity":"error"}
{"file":"api/v1/a.go","line":3,"column":5,"message":"must be a number; write one","rule":"json-string","severity":"error","field":"spec.size","fix":"write one"}
{"message":"Service smtp is left out; add it","severity":"error","object":"Service smtp","fix":"add it"}
{"message":"--kind \"app\": must start with an upper-case letter; did you mean \"App\"?","severity":"error","field":"--kind","value":"app","suggestion":"App"}
{"message":"no space left:\non /tmp","severity":"error"}
[correct them first]
`},
		"SARIF": {func(out *bytes.Buffer) {
			var full bytes.Buffer
			if err := report.SARIF(&full, findings); err != nil {
				t.Error(err)
			}
			var log struct{ Runs []map[string]json.RawMessage }
			if err := json.Unmarshal(full.Bytes(), &log); err != nil {
				t.Error(err)
			}
			for _, key := range []string{"results", "invocations"} {
				_ = json.Compact(out, log.Runs[0][key])
				out.WriteByte('\n')
			}
		}, `[{"ruleId":"json-string","level":"error","message":{"text":"must be a number; write one"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"api/v1/a.go"},"region":{"startLine":3,"startColumn":5}}}]}]
[{"executionSuccessful":false,"toolExecutionNotifications":[` + strings.Join([]string{
			`{"level":"error","message":{"text":"2 things are wrong:"}}`, `{"level":"error","message":{"text":"Service smtp is left out; add it"}}`,
			`{"level":"error","message":{"text":"--kind \"app\": must start with an upper-case letter; did you mean \"App\"?"}}`,
			`{"level":"error","message":{"text":"no space left:\non /tmp"}}`,
		}, ",") + "]}]\n"},
	} {
		var out bytes.Buffer
		if test.print(&out); out.String() != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, &out, test.want)
		}
	}
}

// TestLongText prints a finding of the validation of bundles, whose text contains what SARIF has in fields of its own.
func TestLongText(t *testing.T) {
	t.Parallel()
	f := diag.Finding{
		Severity: diag.Warning, Rule: "csv-icon", Position: diag.Position{File: "csv.yaml", Line: 2}, Object: "ClusterServiceVersion a", Field: "spec.icon",
		Problem: "is missing", Fix: "add it", Long: true,
	}
	const text = "csv.yaml:2: warning: ClusterServiceVersion a: spec.icon: is missing [csv-icon]\n    add it"
	if got := report.Line(f); got != text {
		t.Errorf("Line = %q, want %q", got, text)
	}
	var out bytes.Buffer
	report.Annotate(&out, f)
	if got, want := out.String(), "::warning file=csv.yaml,line=2::warning: ClusterServiceVersion a: spec.icon: is missing [csv-icon]%0A    add it\n"; got != want {
		t.Errorf("Annotate = %q, want %q", got, want)
	}
	out.Reset()
	if err := report.SARIF(&out, diag.Findings{f}); err != nil || !strings.Contains(out.String(), `"text": "ClusterServiceVersion a: spec.icon: is missing\nadd it"`) {
		t.Errorf("SARIF = %v, %s", err, &out)
	}
}
