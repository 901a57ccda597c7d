package report

import (
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/diag"
)

// An entry is a finding.
type entry struct {
	Number                                   int
	Severity                                 diag.Severity
	Rule, Object, Field, Problem, Fix, Place string
	Evidence                                 []circumstance
	// Lane is the lane of the object, or nil if the page doesn't show it.
	Lane *lane

	flag flag
}

// A circumstance is a part of the evidence. At can be empty.
type circumstance struct{ At, Text string }

// A flag is the mark of a finding. X is empty if it has no time.
type flag struct {
	Number   int
	Severity diag.Severity
	X, Title string
}

// entries returns the findings for the page, with the lanes and times that they are about.
func (b *board) entries(findings diag.Findings, steps []behavior.Step) (entries []*entry) {
	for i, f := range findings {
		e := &entry{
			Number: i + 1, Severity: f.Severity, Rule: shorten(f.Rule), Object: shorten(f.Object), Field: shorten(f.Field), Problem: shorten(f.Problem),
			Fix: shorten(f.Fix), Place: f.Position.String(),
		}
		if e.Severity != diag.Warning {
			e.Severity = diag.Error
		}
		for _, r := range f.Related {
			c := circumstance{Text: shorten(strings.TrimSpace(r.Subject() + r.Problem))}
			if !r.Time.IsZero() {
				c.At = b.at(r.Time)
			}
			e.Evidence = append(e.Evidence, c)
		}
		l := b.find(f.Object)
		if l != nil && l.Number > 0 {
			e.Lane = l
		}
		e.flag = flag{Number: e.Number, Severity: e.Severity, Title: e.flagTitle()}
		if at := timeOf(f, steps, l); !at.IsZero() {
			e.flag.X = b.x(at)
		}
		entries = append(entries, e)
	}
	return entries
}

func (e *entry) flagTitle() string {
	return shorten(strings.TrimSpace(e.Rule + ": " + strings.TrimSpace(e.Object+" "+e.Problem)))
}

// timeOf returns the time of a finding: at the end of a step, of the first request or error, or of the last change of the object. It is
// zero if the finding has none.
func timeOf(f diag.Finding, steps []behavior.Step, l *lane) (at time.Time) {
	for _, s := range steps {
		if s.Name == f.Object {
			return s.End
		}
	}
	for _, r := range f.Related {
		if !r.Time.IsZero() {
			return r.Time
		}
	}
	if l != nil {
		return l.last()
	}
	return at
}

// withoutSubresource removes the subresource of a name such as pods/status default/web.
func withoutSubresource(name string) string {
	resource, object, found := strings.Cut(name, " ")
	resource, _, _ = strings.Cut(resource, "/")
	if !found {
		return resource
	}
	return resource + " " + object
}
