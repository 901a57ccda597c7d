// Package report writes the page of a run of 'test behavior': one HTML file without scripts that loads nothing.
//
// The page is a function of its input. Its times are relative to the start of the run, and its size is limited: marks that are too close
// to tell apart become one, and tables end after their first rows.
package report

import (
	"html/template"
	"io"
	"strings"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/templates"
)

// Meta is what a page says about its run.
type Meta struct {
	// Operator is the name of the project, and Program the program that writes the page, with its version.
	Operator, Program string
	// Failure is why the run ended early, or empty.
	Failure string
}

// rules is where the rules are described. The name of a rule is the anchor of its section.
const rules = "https://github.com/operon-sdk/operon/blob/main/docs/behavior.md"

// Limits of the page.
const (
	// maxRows is the number of rows of a table.
	maxRows = 200
	// maxLanes is the number of objects.
	maxLanes = 40
	// maxText is the length of a text in characters.
	maxText = 1000
)

// Write writes the page about what an operator did, and the findings of the observation.
func Write(w io.Writer, o *behavior.Observation, findings diag.Findings, m Meta) error {
	text, err := templates.FS.ReadFile("behavior/index.html.tmpl")
	if err != nil {
		return err
	}
	// A checkout on Windows may add carriage returns to the template.
	t, err := template.New("index.html").Parse(strings.ReplaceAll(string(text), "\r\n", "\n"))
	if err != nil {
		return err
	}
	return t.Execute(w, newPage(o, findings, m))
}

// A page is the input of the template.
type page struct {
	Meta

	// Rules is where the rules are described, and Start the only absolute time.
	Rules, Start, Duration string
	Errors, Warnings       int
	Requests               counts
	// Verdict is the result in a few words.
	Verdict string

	Findings []*entry
	// Pinned are the flags of findings without a lane.
	Pinned []flag
	Ticks  []tick
	Steps  []step
	// StepsHeight is the height of their bars, in pixels.
	StepsHeight int
	Activity    []bar
	// Lanes are the objects of the Tree.
	Lanes, Tree []*lane
	Turns       []turnRow
	Traffic     []*traffic
	Hidden      struct{ Findings, Steps, Lanes, Turns, Traffic int }
}

func newPage(o *behavior.Observation, findings diag.Findings, m Meta) *page {
	b := newBoard(o)
	p := &page{
		Meta: m, Rules: rules, Start: b.start.UTC().Format("2006-01-02 15:04:05 UTC"), Duration: seconds(b.end.Sub(b.start)),
		Requests: b.total, Ticks: b.ticks(), Activity: b.activity(o.Requests),
	}
	p.Operator, p.Program, p.Failure = shorten(m.Operator), shorten(m.Program), shorten(m.Failure)
	var steps []step
	steps, p.StepsHeight = b.steps(o)
	p.Steps, p.Hidden.Steps = firstOf(steps, maxRows)
	p.Lanes, p.Hidden.Lanes = firstOf(b.arrange(), maxLanes)
	p.Tree = b.show(p.Lanes)
	turns, others := firstOf(b.turns, maxRows)
	p.Turns, p.Hidden.Turns = b.turnRows(turns), others
	p.Traffic, p.Hidden.Traffic = firstOf(b.traffic(o.Requests), maxRows)
	entries := b.entries(findings, o.Steps)
	for _, e := range entries {
		if e.Severity == diag.Warning {
			p.Warnings++
		} else {
			p.Errors++
		}
	}
	p.Verdict = p.verdict()
	p.Findings, p.Hidden.Findings = firstOf(entries, maxRows)
	for _, e := range p.Findings {
		if l := e.Lane; l != nil {
			l.Flags = append(l.Flags, e.flag)
		} else {
			p.Pinned = append(p.Pinned, e.flag)
		}
	}
	return p
}

func (p *page) verdict() string {
	switch {
	case p.Errors+p.Warnings > 0:
		return diag.Count(p.Errors, "error") + ", " + diag.Count(p.Warnings, "warning")
	case p.Failure != "":
		return "ended early"
	}
	return "no faults"
}

// firstOf returns the first n of a list, and the number of the others.
func firstOf[T any](list []T, n int) (first []T, others int) {
	n = min(n, len(list))
	return list[:n], len(list) - n
}

// shorten limits the length of a text, and escapes characters that hide others.
func shorten(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxText {
			return diag.Escape(text[:i]) + " …"
		}
	}
	return diag.Escape(text)
}
