package cmd

import (
	"context"
	"errors"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// intactProject is projectRoot for commands that only read the project. It fails if an interrupted command left partial changes.
func (a *app) intactProject() (string, error) {
	root, err := a.ProjectRoot()
	if err != nil {
		return "", err
	}
	return root, a.at(root).Unfinished()
}

// actions returns the configuration of pkg/action.
func (a *app) actions() action.Config {
	at, _, _ := a.SourceDate() // commands that depend on it validate it
	return action.Config{
		FS: a.FS, Dir: a.Dir, Environ: a.Environ, GOPATH: a.GOPATH(), Year: a.Year(), SourceDate: at, Program: a.program, Version: buildVersion().Version, Go: a.goTool(),
		Build: a.Build, CacheDir: a.Cache(), StateDirs: a.StateDirs(), Remote: a.remote(), DryRun: a.dryRun, Command: a.line, LockTimeout: a.lockTimeout, Now: a.Now,
		Charts: a.charts(), More: a.Layouts,
		Report: a.printReport,
		Step: func(describe func() string, step func() error) error {
			return a.reportCounting(a.progressWriter(), describe, step)
		},
	}
}

// printReport prints findings of a command while it runs.
func (a *app) printReport(findings diag.Findings) {
	for _, f := range findings {
		switch f.Severity {
		case diag.Detail:
			a.verbosef("%s", f)
		case diag.Progress:
			a.progressf("%s", f)
		case diag.Note:
			a.notef("%s", f)
		case diag.Warning:
			if !a.structured() {
				findings = findings.Collapse()
			}
			a.warn(findings...)
			return // all have the same severity
		}
	}
}

// runInProject runs a command in the project that the working directory is in, and prints its result.
func (a *app) runInProject(ctx context.Context, run func(*action.Project) (*action.Result, error)) error {
	return a.runInRoot(ctx, a.actions(), func(p *action.Project) error { return a.printed(run(p)) })
}

// runInRoot is runAt for the project that the working directory is in.
func (a *app) runInRoot(ctx context.Context, config action.Config, run func(*action.Project) error) error {
	root, err := a.ProjectRoot()
	if err != nil {
		return err
	}
	return a.runAt(ctx, config, root, run)
}

// runAt runs a command in a directory, which is locked until the command ends.
func (a *app) runAt(ctx context.Context, config action.Config, root string, run func(*action.Project) error) error {
	p, err := action.Open(ctx, config, root)
	if err != nil {
		return unlessCompleted(err)
	}
	defer p.Close()
	return run(p)
}

// readProject reads PROJECT for a command that writes nothing.
func (a *app) readProject(layouts action.Layouts) (*project.Config, error) {
	root, err := a.intactProject()
	if err != nil {
		return nil, err
	}
	return a.at(root).Load(layouts)
}

// unlessCompleted returns nil for action.ErrCompleted, and other errors unchanged.
func unlessCompleted(err error) error {
	if errors.Is(err, action.ErrCompleted) {
		return nil
	}
	return err
}

// printed prints the result of a command, if any, and returns its error.
func (a *app) printed(result *action.Result, err error) error {
	if result == nil {
		return unlessCompleted(err)
	}
	if err := a.printResultChanges(result); err != nil {
		return err
	}
	a.printNotes(result)
	return err
}

// printResultChanges prints the changed files of a command, or with --dry-run their diff.
func (a *app) printResultChanges(result *action.Result) error {
	if result.DryRun {
		return a.printDiff(result.Changes)
	}
	return a.printChanges(result.Changes)
}

// printNotes prints the notes and the next steps of a command.
func (a *app) printNotes(result *action.Result) {
	if result.Remaining != nil {
		a.printRemaining(result.Remaining)
	}
	for _, note := range result.Notes {
		a.notef("%s", note)
	}
	if result.Unchanged != "" {
		a.progressf("%s", result.Unchanged)
	}
	for _, step := range result.NextSteps {
		a.nextf("%s", step)
	}
}

// at returns the project at root for a command that writes nothing.
func (a *app) at(root string) *action.Project { return action.Read(a.actions(), root) }

// printedGenerated is printed for a command that generates files, which may be up to date.
func (a *app) printedGenerated(result *action.Result, err error) error {
	if err := a.printed(result, err); err != nil || result == nil {
		return err
	}
	if len(result.Changes) == 0 {
		a.successf("everything is up to date")
	}
	return nil
}

// checked prints the changes that a command with --check would make, and fails if there are any. The fix describes how to make
// them.
func (a *app) checked(result *action.Result, err error, fix string) error {
	if err != nil {
		return err
	}
	return a.checkChanges(result.Changes, fix)
}
