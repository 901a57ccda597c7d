package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// errConflicts ends an upgrade that left conflicts to the user.
var errConflicts = errors.New("there are conflicts")

// printUpgraded prints what is left to the user. Conflicts and what does not work with the new requirements make the command
// fail.
func (a *app) printUpgraded(result *upgraded) error {
	kept := map[string][]string{} // by the reason
	for _, f := range result.files.Files {
		if f.State == migrate.Kept {
			kept[f.Note] = append(kept[f.Note], f.Name)
		}
	}
	for _, f := range result.files.Files {
		names := kept[f.Note]
		switch {
		case result.obstacle != nil && f.Failure == result.obstacle.failure(): // printed with the obstacle
		case f.State == migrate.Kept && names[0] != f.Name: // printed with the first one
		case f.Failure != "" && len(names) > 1:
			a.notef("kept as they are: %s and %d more files, as otherwise %s", f.Name, len(names)-1, f.Failure)
		case f.State == migrate.Kept:
			for _, name := range names {
				a.notef("kept as it is: %s %s", name, f.Note)
			}
		case len(f.Choices) > 0:
			a.notef("yours stays where the scaffold changed, too: %s: %s", f.Name, strings.Join(f.Choices, ", "))
		}
	}
	for _, n := range result.notes {
		a.notef("%s", n)
	}
	for _, l := range result.losses {
		a.notef("%s", l)
	}
	if result.obstacle != nil {
		a.notef("go.mod, Go code and the manifests stay as they are: %s\ncorrect it and upgrade again, or upgrade with --force and correct it then", result.obstacle)
	}
	conflicts := result.files.Conflicts()
	switch {
	case len(result.changes) > 0 || len(conflicts) > 0:
	case result.obstacle != nil:
		a.progressf("nothing was changed")
		return nil
	default:
		a.progressf("the project is up to date, nothing was changed")
		return nil
	}
	next := fmt.Sprintf("'%s generate' and 'make test'", a.program)
	if result.untidy != nil {
		next = "'go mod tidy', " + next
	}
	switch {
	case len(conflicts) > 0:
		var lines []string
		for _, f := range conflicts {
			lines = append(lines, "\n  "+f.Name)
		}
		return fmt.Errorf("%w: you and the scaffold have changed the same lines of%s\n"+
			"choose between the lines marked there, then run %s", errConflicts, strings.Join(lines, ""), next)
	case result.problem() != nil:
		return fmt.Errorf("%w\ncorrect it, then run %s", result.problem(), next)
	case a.dryRun:
	default:
		a.nextf("review what changed, then 'make test'")
	}
	return nil
}

// checkUpgrade prints what an upgrade would do with each file, and fails if that is anything.
func (a *app) checkUpgrade(ctx context.Context, root string, known *migrate.Fingerprints, o upgradeOptions) error {
	if err := worktree.Unfinished(a.FS, root); err != nil {
		return err
	}
	result, err := a.upgrade(ctx, worktree.NewTree(a.FS, root), known, o)
	if err != nil {
		return err
	}
	a.result.changes, a.result.DryRun = result.changes, true
	printf := func(format string, args ...any) error {
		if a.structured() {
			return nil
		}
		_, err := fmt.Fprintf(a.Out, format, args...)
		return err
	}
	files := map[string]migrate.File{}
	for _, f := range result.files.Files {
		files[f.Name] = f
	}
	for _, c := range result.changes {
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
	for _, f := range result.files.Files {
		if _, ok := files[f.Name]; !ok {
			continue
		}
		if err := printf("kept  %s%s\n", f.Name, f.Describe()); err != nil {
			return err
		}
	}
	if result.obstacle != nil {
		a.notef("%s", result.obstacle)
	}
	unsettled := len(result.files.Conflicts())
	if len(result.changes) == 0 && unsettled == 0 {
		if result.obstacle == nil {
			a.progressf("the project is up to date")
		}
		return nil
	}
	if len(result.changes) == 0 {
		return fmt.Errorf("%w: settle the conflicts", errConflicts)
	}
	noun := "files"
	if len(result.changes) == 1 {
		noun = "file"
	}
	return fmt.Errorf("%d %s out of date, as scaffolded by %s; run '%s upgrade'", len(result.changes), noun, result.files.From, a.program)
}
