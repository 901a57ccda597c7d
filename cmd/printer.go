package cmd

import (
	"io"
	"strings"

	"github.com/operon-sdk/operon/pkg/bundle/validate"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/report"
)

// text returns the stream for messages, which can contain text from projects, images and clusters.
func (a *app) text() io.Writer { return a.escaping(a.Err, diag.Escape, report.WithoutCommands) }

// textOut returns the stream for results that people read, such as tables and diffs.
func (a *app) textOut() io.Writer { return a.escaping(a.Out, diag.Escape, report.WithoutCommands) }

// outputAs returns the stream for results in a format. YAML and XML are written as they are.
func (a *app) outputAs(format string) io.Writer {
	switch format {
	case "", textOutput:
		return a.textOut()
	case jsonOutput, sarifOutput, validate.JSONAlpha1:
		return a.escaping(a.Out, diag.EscapeJSON, func(text string) string { return strings.ReplaceAll(text, "##[", `#\u0023[`) })
	}
	return a.Out
}

// printError prints all parts of an error on stderr.
func (a *app) printError(err error) {
	if a.inActions() {
		report.GitHub(a.Err, a.text(), err, a.placeInRepository)
		return
	}
	report.Text(a.Err, a.text(), a.red("error:"), err)
}

// annotate prints a warning as an annotation of a job of GitHub Actions.
func (a *app) annotate(f diag.Finding) { report.Annotate(a.Err, a.placeInRepository(f)) }

// escaping returns a writer that escapes what acts on a terminal and, in jobs of GitHub Actions, workflow commands.
func (a *app) escaping(w io.Writer, escape, escapeCommands func(string) string) io.Writer {
	if !a.inActions() {
		return &escapingWriter{w, escape}
	}
	return &escapingWriter{w, func(text string) string { return escapeCommands(escape(text)) }}
}

// An escapingWriter escapes text that is written in whole lines. It is a pointer, so that os/exec recognizes one that is both streams of a
// program, and copies them one after the other.
type escapingWriter struct {
	w      io.Writer
	escape func(string) string
}

func (e *escapingWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(e.w, e.escape(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// tableRow returns a row for a tabwriter, without the line break.
func tableRow(cells ...string) string {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = diag.EscapeLine(cell)
	}
	return strings.Join(escaped, "\t")
}
