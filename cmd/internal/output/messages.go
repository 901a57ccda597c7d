package output

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/report"
)

// Progressf prints progress, notes and warnings on stderr, unless -q is given.
func (p *Printer) Progressf(format string, args ...any) {
	if !p.Quiet {
		p.line(format, args...)
	}
}

// Progress prints a line of progress.
func (p *Printer) Progress(message string) { p.Progressf("%s", message) }

// Verbosef prints details on stderr if --verbose is given.
func (p *Printer) Verbosef(format string, args ...any) {
	if p.Verbose {
		p.line(format, args...)
	}
}

// line prints a message on stderr, with further lines indented. At a terminal it ends lines at words.
func (p *Printer) line(format string, args ...any) {
	fmt.Fprint(p.Text(), p.wrapMessage(diag.Continue(fmt.Sprintf(format, args...))+"\n"))
}

// Notef prints a note.
func (p *Printer) Notef(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	if p.Structured() {
		p.result.Notes = append(p.result.Notes, strings.TrimPrefix(note, "note: "))
		return
	}
	p.Progressf("%s", note)
}

// Warn prints warnings.
func (p *Printer) Warn(warnings ...diag.Finding) {
	for _, w := range warnings {
		w.Severity = diag.Warning
		switch {
		case p.Structured():
			p.result.warnings = append(p.result.warnings, p.placed(w))
		case p.Quiet:
		case p.inActions():
			p.annotate(w)
		case w.Long: // it begins with its severity
			p.Progressf("%s", report.Line(w))
		default:
			p.Progressf("warning: %s", report.Line(w))
		}
	}
}

// placed returns a finding for the format of -o: only SARIF has paths of the repository.
func (p *Printer) placed(f diag.Finding) diag.Finding {
	if p.Format == SARIF {
		return p.placeInRepository(f)
	}
	return p.place(f)
}

// Warnf prints a warning that is not about a place in a file.
func (p *Printer) Warnf(format string, args ...any) {
	p.Warn(diag.Finding{Problem: fmt.Sprintf(format, args...)})
}

// Nextf prints what the user does next.
func (p *Printer) Nextf(format string, args ...any) {
	if p.Structured() {
		p.result.NextSteps = append(p.result.NextSteps, fmt.Sprintf(format, args...))
		return
	}
	p.Progressf("next: %s", fmt.Sprintf(format, args...))
}

// successf prints on a terminal that there was nothing to do.
func (p *Printer) successf(format string, args ...any) {
	if p.ErrTerminal && !p.Structured() {
		p.Progressf(format, args...)
	}
}

// Shortened prints the first of some warnings, and the number of the others.
func (p *Printer) Shortened(warnings diag.Findings) {
	first, rest := diag.Shorten(warnings, "warning")
	p.Warn(first...)
	for _, line := range rest {
		p.Progressf("%s", line)
	}
}

// Findings prints findings of a command while it runs.
func (p *Printer) Findings(findings diag.Findings) {
	for _, f := range findings {
		switch f.Severity {
		case diag.Detail:
			p.Verbosef("%s", f)
		case diag.Progress:
			p.Progressf("%s", f)
		case diag.Note:
			p.Notef("%s", f)
		case diag.Warning:
			if !p.Structured() {
				findings = findings.Collapse()
			}
			p.Warn(findings...)
			return // all have the same severity
		}
	}
}
