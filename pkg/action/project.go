package action

import (
	"context"
	"errors"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// ErrCompleted means that an interrupted run of the same command had done all of its work, so that nothing is left to do.
var ErrCompleted = errors.New("the interrupted command is complete")

// A Project is a directory in which commands run.
type Project struct {
	Config
	// Root is the absolute path of the directory.
	Root string
	// roles are the marker roles of the last generation of code.
	roles generatedRoles
}

// Open returns the project that contains the directory dir, after the recovery of an interrupted command.
func Open(ctx context.Context, config Config, dir string) (*Project, error) {
	root, err := project.FindRoot(config.FS, dir)
	if err != nil {
		return nil, err
	}
	return OpenAt(ctx, config, root)
}

// OpenAt is Open for a root that need not have a PROJECT file.
func OpenAt(ctx context.Context, config Config, root string) (*Project, error) {
	p := &Project{Config: config, Root: root}
	return p, p.recover(ctx)
}

// recover recovers the project from an interrupted command. It returns ErrCompleted if that was the same command with the
// same arguments and its work is done. A dry run writes nothing, so it fails if there is something to undo.
func (p *Project) recover(ctx context.Context) error {
	if p.DryRun {
		return p.Unfinished()
	}
	recovery, err := worktree.RecoverIfNeeded(ctx, p.location(), p.lockOptions())
	if err != nil || recovery == nil {
		return err
	}
	p.reportf(diag.Progress, "%s", recovery)
	if recovery.Completed && recovery.Command == p.Command {
		return ErrCompleted
	}
	return nil
}

// Load reads PROJECT outside of a transaction, such as before prompts.
func (p *Project) Load(layouts Layouts) (*project.Config, error) { return Load(p.tree(), layouts) }

// Unfinished returns an error if an interrupted command left the project partly changed. It changes nothing, for commands that only
// read.
func (p *Project) Unfinished() error { return worktree.Unfinished(p.location()) }

// location returns where the project is.
func (p *Project) location() worktree.Location {
	return worktree.Location{FS: p.FS, Root: p.Root, StateDirs: p.StateDirs}
}

// tree returns the files of the project, without changes.
func (p *Project) tree() *worktree.Tree { return worktree.NewTree(p.FS, p.Root) }
