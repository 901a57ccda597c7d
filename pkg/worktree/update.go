package worktree

import "context"

// Updated is the result of Update.
type Updated struct {
	// Changes are sorted by path.
	Changes []Change
	// Recovered is the recovery of an interrupted command, or nil.
	Recovered *Recovery
}

// Update changes a project: it locks the project, recovers from an interrupted command, calls change with a new tree,
// commits the tree and releases the lock. If change returns an error, nothing is written and the error is returned
// unchanged.
func Update(ctx context.Context, at Location, o LockOptions, change func(*Tree) error) (*Updated, error) {
	lock, err := Lock(ctx, at, o)
	if err != nil {
		return nil, err
	}
	// An error of Unlock does not affect the changes, and the lock ends with the process.
	defer func() { _ = lock.Unlock() }()
	updated := &Updated{}
	if updated.Recovered, err = Recover(lock); err != nil {
		return nil, err
	}
	tree := NewTree(at.FS, at.Root)
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
