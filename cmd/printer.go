package cmd

import (
	"io"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// text returns the stream for messages, which can contain text from projects, images and clusters.
func (a *app) text() io.Writer { return a.escaping(a.Err) }

// textOut returns the stream for results that are not data, such as tables and diffs.
func (a *app) textOut() io.Writer { return a.escaping(a.Out) }

func (a *app) escaping(w io.Writer) io.Writer {
	return escapingWriter{w: w, commands: a.Getenv("GITHUB_ACTIONS") == "true"}
}

// An escapingWriter writes whole lines, without what acts on a terminal and, in jobs of GitHub Actions, without workflow commands: a job
// takes each line that begins with :: for one, also after white space, and formerly ##[ anywhere.
type escapingWriter struct {
	w        io.Writer
	commands bool
}

func (e escapingWriter) Write(p []byte) (int, error) {
	text := diag.Escape(string(p))
	if e.commands {
		text = withoutCommands(text)
	}
	if _, err := io.WriteString(e.w, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// withoutCommands escapes workflow commands by GitHub's rules for their text.
func withoutCommands(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if rest := strings.TrimSpace(line); strings.HasPrefix(rest, "::") {
			at := strings.Index(line, "::")
			line = line[:at] + "%3A%3A" + line[at+2:]
		}
		b.WriteString(strings.ReplaceAll(line, "##[", "##%5B"))
	}
	return b.String()
}
