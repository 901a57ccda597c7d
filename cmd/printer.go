package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/operon-sdk/operon/pkg/bundle/validate"
	"github.com/operon-sdk/operon/pkg/diag"
)

// text returns the stream for messages, which can contain text from projects, images and clusters.
func (a *app) text() io.Writer { return a.escaping(a.Err, diag.Escape, withoutCommands) }

// textOut returns the stream for results that people read, such as tables and diffs.
func (a *app) textOut() io.Writer { return a.escaping(a.Out, diag.Escape, withoutCommands) }

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

// escaping returns a writer that escapes what acts on a terminal and, in jobs of GitHub Actions, workflow commands.
func (a *app) escaping(w io.Writer, escape, escapeCommands func(string) string) io.Writer {
	if a.Getenv("GITHUB_ACTIONS") != "true" {
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

// withoutCommands escapes workflow commands as GitHub escapes their texts. A job takes each line that begins with :: for one, also after
// white space, and ##[ anywhere in a line, which is an older form.
func withoutCommands(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			line = strings.Replace(line, "::", "%3A%3A", 1)
		}
		b.WriteString(strings.ReplaceAll(line, "##[", "##%5B"))
	}
	return b.String()
}

// workflowCommand prints a command for a job of GitHub Actions. Properties are in the form KEY=VALUE.
func (a *app) workflowCommand(name string, properties []string, message string) {
	if len(properties) > 0 {
		name += " " + strings.Join(properties, ",")
	}
	fmt.Fprintf(a.Err, "::%s::%s\n", name, strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(diag.Escape(message)))
}

// property returns a property of a workflow command.
func property(key, value string) string {
	return key + "=" + strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C").Replace(diag.EscapeLine(value))
}

// tableRow returns a row for a tabwriter, without the line break.
func tableRow(cells ...string) string {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = diag.EscapeLine(cell)
	}
	return strings.Join(escaped, "\t")
}
