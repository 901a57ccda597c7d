package output

import (
	"errors"
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/upgrade"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Outcome prints the result of a command, if any, and returns its error, unless that is action.ErrCompleted.
func (p *Printer) Outcome(result *action.Result, err error) error {
	if result == nil {
		if errors.Is(err, action.ErrCompleted) {
			return nil
		}
		return err
	}
	if err := p.Changes(result); err != nil {
		return err
	}
	p.Notes(result)
	return err
}

// Changes prints the changed files of a command, or with --dry-run their diff.
func (p *Printer) Changes(result *action.Result) error {
	if result.DryRun {
		return p.diff(result.Changes)
	}
	return p.made(result.Changes)
}

// Notes prints the notes and the next steps of a command.
func (p *Printer) Notes(result *action.Result) {
	if result.Remaining != nil {
		p.remaining(result.Remaining)
	}
	for _, note := range result.Notes {
		p.Notef("%s", note)
	}
	if result.Unchanged != "" {
		p.Progressf("%s", result.Unchanged)
	}
	for _, step := range result.NextSteps {
		p.Nextf("%s", step)
	}
}

// Generated is Outcome for a command that generates files, which may be up to date.
func (p *Printer) Generated(result *action.Result, err error) error {
	if err := p.Outcome(result, err); err != nil || result == nil {
		return err
	}
	if len(result.Changes) == 0 {
		p.successf("everything is up to date")
	}
	return nil
}

// Checked prints the changes that a command with --check would make, and fails if there are any. The fix describes how to make
// them.
func (p *Printer) Checked(result *action.Result, err error, fix string) error {
	if err != nil {
		return err
	}
	return p.check(result.Changes, fix)
}

// remaining prints where old names remain.
func (p *Printer) remaining(remaining *refactor.Remaining) {
	list := func(what string, places []string) {
		const most = 20
		if len(places) == 0 {
			return
		}
		more := ""
		if len(places) > most && !p.Verbose {
			more = fmt.Sprintf("\n  and %d more; --verbose lists all", len(places)-most)
			places = places[:most]
		}
		p.Notef("%s:\n  %s%s", what, strings.Join(places, "\n  "), more)
	}
	list("these still contain an old name; check whether that is intended", remaining.Places)
	list("note: released bundles and catalogs keep the old names, under which they are installed; new releases have the new ones", remaining.Released)
}

// Preview prints the changes that an upgrade would make, and fails if there are any.
func (p *Printer) Preview(preview *upgrade.Preview) error {
	p.result.changes, p.result.DryRun = preview.Changes, true
	printf := func(format string, args ...any) error {
		if p.Structured() {
			return nil
		}
		_, err := fmt.Fprintf(p.TextOut(), format, args...)
		return err
	}
	files := map[string]migrate.File{}
	for _, f := range preview.Files {
		files[f.Name] = f
	}
	for _, c := range preview.Changes {
		note := ""
		if f, ok := files[c.Path]; ok {
			note = f.Describe()
		}
		added, removed := worktree.Count(c)
		if err := printf("%s  %s  +%d -%d%s\n", c.Action(), c.Place(), added, removed, note); err != nil {
			return err
		}
		delete(files, c.Path)
	}
	for _, f := range preview.Files {
		if _, ok := files[f.Name]; !ok {
			continue
		}
		if err := printf("kept  %s%s\n", f.Name, f.Describe()); err != nil {
			return err
		}
	}
	if preview.Obstacle != nil {
		p.Notef("%s", preview.Obstacle)
	}
	switch {
	case len(preview.Changes) > 0:
		origin := ""
		if preview.From != (migrate.Release{}) {
			origin = fmt.Sprintf(", as scaffolded by %s", preview.From)
		}
		return fmt.Errorf("%s out of date%s; run '%s upgrade'", diag.Count(len(preview.Changes), "file"), origin, p.Program)
	case preview.Conflicts > 0:
		return fmt.Errorf("%w: settle the conflicts", action.ErrConflicts)
	case preview.Obstacle == nil:
		p.Progressf("the project is up to date")
	}
	return nil
}
