package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/report"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// The formats of -o.
const (
	Text  = "text"
	JSON  = "json"
	SARIF = "sarif"
)

// A result is what a command did and what it left to the user. Its JSON keys are part of the interface of commands.
type result struct {
	// DryRun is true if the command wrote nothing, as with --dry-run and --check: Changes are those that it would make.
	DryRun bool `json:"dryRun"`
	// Changes are sorted by path. They, Warnings and Errors are set when the result is printed, from the fields below.
	Changes   []change       `json:"changes"`
	Notes     []string       `json:"notes"`
	Warnings  []report.Entry `json:"warnings"`
	NextSteps []string       `json:"nextSteps"`
	Errors    []report.Entry `json:"errors"`

	changes          []worktree.Change
	warnings, errors diag.Findings
}

// A change is a changed file.
type change struct {
	Path string `json:"path"`
	// Action is created, updated, deleted or moved.
	Action string `json:"action"`
	// From is the former path of a moved file.
	From string `json:"from,omitempty"`
	// Diff is the change as a unified diff, if it was not made.
	Diff string `json:"diff,omitempty"`
}

// Structured reports whether the result of the command is printed at its end, in a format for programs.
func (p *Printer) Structured() bool { return p.Format == JSON || p.Format == SARIF }

// describe returns the changes as JSON has them, with a diff of those that were not made.
func (r *result) describe() []change {
	described := []change{}
	for _, c := range r.changes {
		one := change{Path: c.Path, Action: c.Action(), From: c.From}
		if r.DryRun {
			one.Diff = worktree.Diff([]worktree.Change{c})
		}
		described = append(described, one)
	}
	slices.SortFunc(described, func(one, other change) int { return strings.Compare(one.Path, other.Path) })
	return described
}

// Finish prints the result of a command that ended with err in the format of -o, if that is one for programs.
func (p *Printer) Finish(err error) error {
	if err != nil && p.Structured() {
		for _, section := range diag.Sections(err) {
			for _, f := range section.All() {
				p.result.errors = append(p.result.errors, p.placed(f))
			}
			for _, line := range section.Advice {
				p.result.NextSteps = append(p.result.NextSteps, strings.TrimLeft(line, " "))
			}
		}
	}
	switch p.Format {
	case JSON:
		r := p.result
		r.Changes, r.Notes, r.NextSteps = r.describe(), orEmpty(r.Notes), orEmpty(r.NextSteps)
		r.Warnings, r.Errors = report.Entries(r.warnings), report.Entries(r.errors)
		encoder := json.NewEncoder(p.As(JSON))
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	case SARIF:
		return p.printSARIF(errors.Is(err, errStale))
	}
	return nil
}

// orEmpty returns a list that is an empty array in JSON if it is nil.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// printSARIF prints errors, warnings and files that are out of date. These are results, so that no notification is about them.
func (p *Printer) printSARIF(stale bool) error {
	findings := slices.Concat(p.result.errors, p.result.warnings)
	if !stale {
		return report.SARIF(p.As(SARIF), findings)
	}
	root, err := p.ProjectRoot()
	if err != nil {
		return err
	}
	findings = slices.DeleteFunc(findings, func(f diag.Finding) bool { return f.File == "" })
	for _, c := range p.result.changes {
		findings = append(findings, diag.Finding{
			Rule: "stale-file", Position: diag.Position{File: p.repositoryPath(env.Absolute(root, c.Path), c.Path)},
			Problem: fmt.Sprintf("generated file is out of date: it must be %s; run '%s generate'", c.Action(), p.Program),
		})
	}
	return report.SARIF(p.As(SARIF), findings)
}
