// Package report prints findings in four formats: as text for people, as JSON, as SARIF, and as annotations of a job of GitHub Actions.
// All four are made from the values of a diag.Finding, and none from the text of an error.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Line returns the text of a finding with the name of its check.
func Line(f diag.Finding) string { return withRule(f.Error(), f) }

func withRule(text string, f diag.Finding) string {
	if f.Rule == "" || f.Long { // a long text contains it
		return text
	}
	return text + " [" + f.Rule + "]"
}

// Text prints an error. label, such as "error:" in red, is printed to raw before headings and findings without one; text is the
// same stream for foreign text, which it escapes.
func Text(raw, text io.Writer, label string, err error) {
	eachPart(text, diag.Messages(err), func(f diag.Finding, listed bool) {
		if listed {
			fmt.Fprintf(text, "  %s\n", strings.ReplaceAll(strings.ReplaceAll(Line(f), "\r\n", "\n"), "\n", "\n  "))
			return
		}
		fmt.Fprint(raw, label)
		fmt.Fprintf(text, " %s\n", diag.Continue(Line(f)))
	})
}

// GitHub prints the findings of an error as annotations to raw, and what is not a finding to text. place returns findings as Annotate expects them.
func GitHub(raw, text io.Writer, err error, place func(diag.Finding) diag.Finding) {
	eachPart(text, diag.Sections(err), func(f diag.Finding, _ bool) { Annotate(raw, place(f)) })
}

// eachPart calls finding for each heading and each finding of an error, and prints the lines below them.
func eachPart(text io.Writer, sections []diag.Section, finding func(f diag.Finding, listed bool)) {
	for _, section := range sections {
		if section.Heading != "" {
			finding(diag.Finding{Problem: section.Heading}, false)
		}
		shown, below := section.Shown()
		for _, f := range shown {
			finding(f, section.Heading != "")
		}
		for _, line := range below {
			fmt.Fprintln(text, line)
		}
	}
}
