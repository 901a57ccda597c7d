package report

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Annotate prints a finding as an annotation of a job of GitHub Actions, which shows its message in the log, too. The file of the finding
// is relative to the root of the repository.
func Annotate(out io.Writer, f diag.Finding) {
	var properties []string
	if f.File != "" {
		properties = append(properties, property("file", f.File))
		if f.Line > 0 {
			properties = append(properties, property("line", strconv.Itoa(f.Line)))
		}
		if f.Column > 0 {
			properties = append(properties, property("col", strconv.Itoa(f.Column)))
		}
	}
	workflowCommand(out, string(cmp.Or(f.Severity, diag.Error)), properties, withRule(f.Message(), f))
}

// WithoutCommands escapes workflow commands as GitHub escapes their texts. A job takes each line that begins with :: for one, also after
// white space, and ##[ anywhere in a line, which is an older form.
func WithoutCommands(text string) string {
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
func workflowCommand(out io.Writer, name string, properties []string, message string) {
	if len(properties) > 0 {
		name += " " + strings.Join(properties, ",")
	}
	fmt.Fprintf(out, "::%s::%s\n", name, strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(diag.Escape(message)))
}

// property returns a property of a workflow command.
func property(key, value string) string {
	return key + "=" + strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C").Replace(diag.EscapeLine(value))
}
