// Package output prints what commands do. People get text, with progress, notes and warnings on stderr; programs get the result of
// the command as JSON or SARIF, and jobs of GitHub Actions get annotations. Everything that can contain text from projects, images
// and clusters is escaped.
package output

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/bundle/validate"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/report"
)

// A Printer prints what one command does, and collects its result if programs read it.
type Printer struct {
	*env.Env
	// Program is the name of the program in hints.
	Program string
	// Quiet, Verbose and Format are -q, --verbose and -o.
	Quiet, Verbose bool
	Format         string

	result result
	// dirs are the directories of the files of findings: the project's and the working directory. They are found once.
	dirs     []string
	progress sync.Mutex // serializes what several goroutines print
}

// Text returns the stream for messages, which can contain text from projects, images and clusters.
func (p *Printer) Text() io.Writer { return p.escaping(p.Err, diag.Escape, report.WithoutCommands) }

// TextOut returns the stream for results that people read, such as tables and diffs.
func (p *Printer) TextOut() io.Writer { return p.escaping(p.Out, diag.Escape, report.WithoutCommands) }

// As returns the stream for results in a format. YAML and XML are written as they are.
func (p *Printer) As(format string) io.Writer {
	switch format {
	case "", Text:
		return p.TextOut()
	case JSON, SARIF, validate.JSONAlpha1:
		return p.escaping(p.Out, diag.EscapeJSON, func(text string) string { return strings.ReplaceAll(text, "##[", `#\u0023[`) })
	}
	return p.Out
}

// Error prints all parts of an error on stderr.
func (p *Printer) Error(err error) {
	if p.inActions() {
		report.GitHub(p.Err, p.Text(), err, p.placeInRepository)
		return
	}
	var text bytes.Buffer
	report.Text(&text, &escapingWriter{&text, diag.Escape}, p.red("error:"), err)
	_, _ = io.WriteString(p.Err, p.wrapMessage(text.String())) // there is nowhere to report an error
}

// annotate prints a warning as an annotation of a job of GitHub Actions.
func (p *Printer) annotate(f diag.Finding) { report.Annotate(p.Err, p.placeInRepository(f)) }

// escaping returns a writer that escapes what acts on a terminal and, in jobs of GitHub Actions, workflow commands.
func (p *Printer) escaping(w io.Writer, escape, escapeCommands func(string) string) io.Writer {
	if !p.inActions() {
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

// red colors a word on stderr.
func (p *Printer) red(s string) string {
	if !p.Color(p.ErrTerminal) {
		return s
	}
	return "\x1b[31m" + s + "\x1b[0m"
}

// errStale means that --check found differences, which are on stdout.
var errStale = errors.New("out of date")
