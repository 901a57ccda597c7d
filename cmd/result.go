package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/report"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// The formats of -o.
const (
	textOutput  = "text"
	jsonOutput  = "json"
	sarifOutput = "sarif"
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

// addOutput adds -o to a command. The first format is the default.
func (a *app) addOutput(c *cobra.Command, formats ...string) {
	choiceVar(c, &a.output, "output", "o", formats[0], "output format", formats...)
	c.PreRunE = func(*cobra.Command, []string) error {
		return checkChoice("--output", a.output, formats...).Err()
	}
}

// structured reports whether the result of the command is printed at its end, in a format for programs.
func (a *app) structured() bool { return a.output == jsonOutput || a.output == sarifOutput }

// notef prints a note.
func (a *app) notef(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	if a.structured() {
		a.result.Notes = append(a.result.Notes, strings.TrimPrefix(note, "note: "))
		return
	}
	a.progressf("%s", note)
}

// warn prints warnings.
func (a *app) warn(warnings ...diag.Finding) {
	for _, w := range warnings {
		w.Severity = diag.Warning
		switch {
		case a.structured():
			a.result.warnings = append(a.result.warnings, a.placed(w))
		case a.quiet:
		case a.inActions():
			a.annotate(w)
		case w.Long: // it begins with its severity
			a.progressf("%s", report.Line(w))
		default:
			a.progressf("warning: %s", report.Line(w))
		}
	}
}

// placed returns a finding for the format of -o: only SARIF has paths of the repository.
func (a *app) placed(f diag.Finding) diag.Finding {
	if a.output == sarifOutput {
		return a.placeInRepository(f)
	}
	return a.place(f)
}

// warnf prints a warning that is not about a place in a file.
func (a *app) warnf(format string, args ...any) {
	a.warn(diag.Finding{Problem: fmt.Sprintf(format, args...)})
}

// nextf prints what the user does next.
func (a *app) nextf(format string, args ...any) {
	if a.structured() {
		a.result.NextSteps = append(a.result.NextSteps, fmt.Sprintf(format, args...))
		return
	}
	a.progressf("next: %s", fmt.Sprintf(format, args...))
}

// successf prints on a terminal that there was nothing to do.
func (a *app) successf(format string, args ...any) {
	if a.ErrTerminal && !a.structured() {
		a.progressf(format, args...)
	}
}

// printChanges prints the changes that a command made.
func (a *app) printChanges(changes []worktree.Change) error {
	a.result.changes = changes
	if a.structured() || a.quiet {
		return nil
	}
	grouped := a.OutTerminal && len(changes) > maxChanges && !a.verbose
	if !grouped {
		for _, c := range changes {
			if _, err := fmt.Fprintln(a.textOut(), c); err != nil {
				return err
			}
		}
	}
	if a.OutTerminal {
		return a.countChanges(changes, grouped)
	}
	return nil
}

// maxChanges is the number of changes that are listed at a terminal. More are grouped by directory.
const maxChanges = 20

// countChanges prints how many changes there are of each kind, and if they are grouped, how many in each directory.
func (a *app) countChanges(changes []worktree.Change, grouped bool) error {
	byAction := map[string]map[string]int{}
	for _, c := range changes {
		if byAction[c.Action()] == nil {
			byAction[c.Action()] = map[string]int{}
		}
		top, _, _ := strings.Cut(path.Dir(c.Path), "/")
		byAction[c.Action()][top]++
	}
	for _, action := range slices.Sorted(maps.Keys(byAction)) {
		n := 0
		var dirs []string
		for _, dir := range slices.Sorted(maps.Keys(byAction[action])) {
			n += byAction[action][dir]
			if dir != "." {
				dirs = append(dirs, fmt.Sprintf("%s/ %d", dir, byAction[action][dir]))
			}
		}
		if here := byAction[action]["."]; here > 0 {
			dirs = append(dirs, fmt.Sprintf("project directory %d", here))
		}
		line := action + " " + diag.Count(n, "file")
		if grouped {
			line += ": " + strings.Join(dirs, ", ")
		}
		if _, err := fmt.Fprintln(a.textOut(), line); err != nil {
			return err
		}
	}
	return nil
}

// printDiff prints changes that a command would make as a diff.
func (a *app) printDiff(changes []worktree.Change) error {
	a.result.changes, a.result.DryRun = changes, true
	if a.structured() {
		return nil
	}
	_, err := fmt.Fprint(a.textOut(), worktree.Diff(changes))
	return err
}

// checkChanges prints the changes that a command would make, and fails if there are any. fix is how to make them.
func (a *app) checkChanges(changes []worktree.Change, fix string) error {
	if err := a.printDiff(changes); err != nil {
		return err
	}
	if len(changes) == 0 {
		a.progressf("everything is up to date")
		return nil
	}
	return fmt.Errorf("%s %w; %s", diag.Count(len(changes), "file"), errStale, fix)
}

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
	slices.SortFunc(described, func(a, b change) int { return strings.Compare(a.Path, b.Path) })
	return described
}

// printResult prints the result of a command that ended with err in the format of -o, if that is one for programs.
func (a *app) printResult(err error) error {
	if err != nil && a.structured() {
		for _, section := range diag.Sections(err) {
			for _, f := range section.All() {
				a.result.errors = append(a.result.errors, a.placed(f))
			}
			for _, line := range section.Advice {
				a.result.NextSteps = append(a.result.NextSteps, strings.TrimLeft(line, " "))
			}
		}
	}
	switch a.output {
	case jsonOutput:
		r := *a.result
		r.Changes, r.Notes, r.NextSteps = r.describe(), orEmpty(r.Notes), orEmpty(r.NextSteps)
		r.Warnings, r.Errors = report.Entries(r.warnings), report.Entries(r.errors)
		encoder := json.NewEncoder(a.outputAs(jsonOutput))
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	case sarifOutput:
		return a.printSARIF(errors.Is(err, errStale))
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
func (a *app) printSARIF(stale bool) error {
	findings := slices.Concat(a.result.errors, a.result.warnings)
	if !stale {
		return report.SARIF(a.outputAs(sarifOutput), findings)
	}
	root, err := a.projectRoot()
	if err != nil {
		return err
	}
	findings = slices.DeleteFunc(findings, func(f diag.Finding) bool { return f.File == "" })
	for _, c := range a.result.changes {
		findings = append(findings, diag.Finding{
			Rule: "stale-file", Position: diag.Position{File: a.repositoryPath(absolute(root, c.Path), c.Path)},
			Problem: fmt.Sprintf("generated file is out of date: it must be %s; run '%s generate'", c.Action(), a.program),
		})
	}
	return report.SARIF(a.outputAs(sarifOutput), findings)
}
