package scorecard

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"

	"github.com/operon-sdk/operon/pkg/diag"
)

// The formats of results.
const (
	Text  = "text"
	JSON  = "json"
	XUnit = "xunit"
)

// Formats returns all formats, the default first.
func Formats() []string { return []string{Text, JSON, XUnit} }

// Write writes results in one of Formats.
func Write(out io.Writer, format string, list v1alpha3.TestList) error {
	switch format {
	case JSON:
		data, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n", data)
		return err
	case XUnit:
		return writeXUnit(out, list)
	}
	if len(list.Items) == 0 {
		_, err := fmt.Fprintln(out, "0 tests selected")
		return err
	}
	for _, test := range list.Items {
		if _, err := fmt.Fprintln(out, text(test)); err != nil {
			return err
		}
	}
	return nil
}

// text formats a test with its results.
func text(test v1alpha3.Test) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nImage:      %s\n", strings.Repeat("-", 80), diag.EscapeLine(test.Spec.Image))
	if len(test.Spec.Entrypoint) > 0 {
		fmt.Fprintf(&b, "Entrypoint: %s\n", diag.EscapeLine(fmt.Sprint(test.Spec.Entrypoint)))
	}
	if len(test.Spec.Labels) > 0 {
		b.WriteString("Labels:\n")
		for _, key := range slices.Sorted(maps.Keys(test.Spec.Labels)) {
			fmt.Fprintf(&b, "\t%q:%q\n", key, test.Spec.Labels[key])
		}
	}
	if len(test.Status.Results) > 0 {
		b.WriteString("Results:\n")
	}
	for _, result := range test.Status.Results {
		if result.Name != "" {
			fmt.Fprintf(&b, "\tName: %s\n", diag.EscapeLine(result.Name))
		}
		state := string(result.State)
		if state != string(v1alpha3.PassState) && state != string(v1alpha3.FailState) && state != string(v1alpha3.ErrorState) {
			state = "unknown"
		}
		fmt.Fprintf(&b, "\tState: %s\n\n", state)
		section(&b, "Suggestions", result.Suggestions)
		section(&b, "Errors", result.Errors)
		if result.Log != "" {
			section(&b, "Log", strings.Split(strings.TrimSuffix(result.Log, "\n"), "\n"))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\t%s:\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "\t\t%s\n", diag.EscapeLine(strings.TrimSuffix(line, "\r")))
	}
}
