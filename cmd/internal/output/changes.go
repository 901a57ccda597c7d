package output

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// made prints the changes that a command made.
func (p *Printer) made(changes []worktree.Change) error {
	p.result.changes = changes
	if p.Structured() || p.Quiet {
		return nil
	}
	grouped := p.OutTerminal && len(changes) > maxChanges && !p.Verbose
	if !grouped {
		for _, c := range changes {
			if _, err := fmt.Fprintln(p.TextOut(), c); err != nil {
				return err
			}
		}
	}
	if p.OutTerminal {
		return p.countChanges(changes, grouped)
	}
	return nil
}

// maxChanges is the number of changes that are listed at a terminal. More are grouped by directory.
const maxChanges = 20

// countChanges prints how many changes there are of each kind, and if they are grouped, how many in each directory.
func (p *Printer) countChanges(changes []worktree.Change, grouped bool) error {
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
		if _, err := fmt.Fprint(p.TextOut(), p.wrapResult(line+"\n")); err != nil {
			return err
		}
	}
	return nil
}

// diff prints changes that a command would make as a diff.
func (p *Printer) diff(changes []worktree.Change) error {
	p.result.changes, p.result.DryRun = changes, true
	if p.Structured() {
		return nil
	}
	_, err := fmt.Fprint(p.TextOut(), worktree.Diff(changes))
	return err
}

// check prints the changes that a command would make, and fails if there are any. fix is how to make them.
func (p *Printer) check(changes []worktree.Change, fix string) error {
	if err := p.diff(changes); err != nil {
		return err
	}
	if len(changes) == 0 {
		p.Progressf("everything is up to date")
		return nil
	}
	return fmt.Errorf("%s %w; %s", diag.Count(len(changes), "file"), errStale, fix)
}
