package action

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A Result describes a completed command.
type Result struct {
	// Changes are the changed files, with all files of the vendor directory as one.
	Changes []worktree.Change
	// DryRun reports whether the changes were not made.
	DryRun bool
	// Notes state what the command could not do or what the user must be aware of.
	Notes []string
	// Remaining lists where old names remain after a rename; nil for other commands.
	Remaining *refactor.Remaining
	// Unchanged is a message for commands that changed nothing, or empty.
	Unchanged string
	// NextSteps are the next steps of the user. A dry run has none.
	NextSteps []string
}

// AddStepf adds a next step of the user.
func (r *Result) AddStepf(format string, args ...any) {
	if !r.DryRun {
		r.NextSteps = append(r.NextSteps, fmt.Sprintf(format, args...))
	}
}

// Update lets change edit the files of the project, and writes all changes or none. It fails if files that change reads contain merge
// conflicts.
func (p *Project) Update(ctx context.Context, change func(*worktree.Tree) error) (*Result, error) {
	return p.UpdateOverConflicts(ctx, withoutConflicts(change))
}

// withoutConflicts makes change fail if files that it reads from disk contain merge conflicts, since its other errors may
// follow from these.
func withoutConflicts(change func(*worktree.Tree) error) func(*worktree.Tree) error {
	return func(tree *worktree.Tree) error {
		err := change(tree)
		if errors.Is(err, context.Canceled) {
			return err
		}
		if conflicts := tree.CheckConflicts(); conflicts != nil {
			return conflicts
		}
		return err
	}
}

// UpdateOverConflicts is Update for a change that handles files with merge conflicts itself.
func (p *Project) UpdateOverConflicts(ctx context.Context, change func(*worktree.Tree) error) (*Result, error) {
	defer p.Reread()
	if err := change(p.Files); err != nil {
		return nil, err
	}
	if p.tx == nil {
		changes, err := p.Files.Changes()
		if err != nil {
			return nil, err
		}
		return &Result{Changes: p.Files.Paired(changes), DryRun: true}, nil
	}
	changes, err := p.tx.Commit(ctx)
	if err != nil {
		return nil, err
	}
	return &Result{Changes: withoutVendored(changes)}, nil
}

// withoutVendored returns the changes with one for all files of the vendor directory.
func withoutVendored(changes []worktree.Change) []worktree.Change {
	isVendored := func(c worktree.Change) bool { return strings.HasPrefix(c.Path, "vendor/") }
	if !slices.ContainsFunc(changes, isVendored) {
		return changes
	}
	return append(slices.DeleteFunc(slices.Clone(changes), isVendored), worktree.Change{Path: "vendor", Old: []byte{}, New: []byte{}})
}

// IsOutside reports whether a slash-separated path relative to the root is outside of the project.
func IsOutside(rel string) bool { return rel == ".." || strings.HasPrefix(rel, "../") }

// UpdateAt is Update for a change whose results are in dir, relative to the root. If dir is outside of the project, change
// still receives the files of the project, with results named like ../out/file, but only those in dir are written.
func (p *Project) UpdateAt(ctx context.Context, dir string, change func(*worktree.Tree) error) (*Result, error) {
	if !IsOutside(dir) {
		return p.Update(ctx, change)
	}
	root := filepath.Join(p.Root, filepath.FromSlash(dir))
	if !p.DryRun {
		if err := p.FS.MkdirAll(root, 0o755); err != nil {
			return nil, fmt.Errorf("creating the directory of --output-dir: %w", diag.Cause(err))
		}
		defer func() { _ = p.FS.Remove(root) }() // fails unless it is empty
	}
	out, err := Open(ctx, p.Config, root)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	return out.Update(ctx, func(tree *worktree.Tree) error {
		if err := withoutConflicts(change)(p.Files); err != nil {
			return err
		}
		changes, err := p.Files.Changes()
		if err != nil {
			return err
		}
		for _, c := range changes {
			name, ok := strings.CutPrefix(c.Path, dir+"/")
			switch {
			case !ok: // records in the project
			case c.New == nil:
				tree.Remove(name)
			default:
				tree.WriteFile(name, c.New, c.Mode)
			}
		}
		return nil
	})
}
