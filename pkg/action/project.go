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

// A Project is a directory in which commands run. Open locks it until Close; Read does not.
type Project struct {
	Config
	// Root is the absolute path of the directory.
	Root string
	// tx is the transaction of the command, or nil if it writes nothing.
	tx *worktree.Transaction
	// Files are the files of the project, with the changes of the command.
	Files *worktree.Tree
	// config is PROJECT, or nil if it is not read yet.
	config *project.Config
	// Roles are the marker roles of the last generation of code.
	Roles GeneratedRoles
}

// Open locks the directory root, which need not have a PROJECT file, and undoes what an interrupted command left. It returns
// ErrCompleted if that was the same command with the same arguments, and its work is done. A dry run locks nothing, and fails if there
// is something to undo. The caller closes the project.
func Open(ctx context.Context, config Config, root string) (*Project, error) {
	p := Read(config, root)
	if p.DryRun {
		return p, p.Unfinished()
	}
	tx, err := worktree.Begin(ctx, p.location(), p.lockOptions())
	if err != nil {
		return nil, err
	}
	p.tx, p.Files = tx, tx.Tree
	if tx.Recovered == nil {
		return p, nil
	}
	p.Reportf(diag.Progress, "%s", tx.Recovered)
	if tx.Recovered.Completed && tx.Recovered.Command == p.Command {
		p.Close()
		return nil, ErrCompleted
	}
	return p, nil
}

// Read returns the project at root for a command that writes nothing.
func Read(config Config, root string) *Project {
	return &Project{Config: config, Root: root, Files: worktree.NewTree(config.FS, root)}
}

// Close ends the command: others can change the project.
func (p *Project) Close() {
	if p.tx != nil {
		p.tx.Close()
	}
}

// Load returns PROJECT, which is read once, and checks its layout. The result contains the changes that the command makes to it.
func (p *Project) Load(layouts Layouts) (*project.Config, error) {
	p.Refresh()
	if p.config != nil {
		return p.config, layouts.check(p.config)
	}
	config, err := p.LoadFrom(p.Files, layouts)
	p.config = config
	return config, err
}

// Refresh makes the command read PROJECT again if the user has edited it, such as during prompts.
func (p *Project) Refresh() {
	if !p.Files.HasChanges() && p.Files.IsOutdated(project.FileName) {
		p.Reread()
	}
}

// Reread discards what was read, and changes that were not committed, for the next command.
func (p *Project) Reread() {
	p.Files.Discard()
	p.config = nil
}

// Unfinished returns an error if an interrupted command left the project partly changed. It changes nothing, for commands that only
// read.
func (p *Project) Unfinished() error { return worktree.Unfinished(p.location()) }

// location returns where the project is.
func (p *Project) location() worktree.Location {
	return worktree.Location{FS: p.FS, Root: p.Root, StateDirs: p.StateDirs}
}

// Original returns the files of the project, without changes.
func (p *Project) Original() *worktree.Tree { return p.Files.Original() }
