package worktree

import (
	"context"

	"github.com/spf13/afero"
)

// Updated is what Update did.
type Updated struct {
	// Changes are sorted by path; there are none when the tree stayed as it was.
	Changes []Change
	// Recovered is what an earlier, interrupted command had left to undo, or nil.
	Recovered *Recovery
}

// Update changes a project: it takes the lock, undoes what an interrupted command left, lets change work on a fresh tree,
// commits that and releases the lock. An error of change leaves the disk alone and is returned as it is.
func Update(ctx context.Context, fsys afero.Fs, root string, o LockOptions, change func(*Tree) error) (*Updated, error) {
	lock, err := Lock(ctx, fsys, root, o)
	if err != nil {
		return nil, err
	}
	// What Unlock may complain about does not change what became of the tree, and the lock ends with
	// the process at the latest.
	defer func() { _ = lock.Unlock() }()
	updated := &Updated{}
	if updated.Recovered, err = Recover(fsys, root); err != nil {
		return nil, err
	}
	tree := NewTree(fsys, root)
	if err := change(tree); err != nil {
		return updated, err
	}
	if err := ctx.Err(); err != nil {
		return updated, err
	}
	updated.Changes, err = Commit(tree, lock)
	updated.Changes = tree.Paired(updated.Changes)
	return updated, err
}
