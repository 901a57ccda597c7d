package worktree

import "context"

// A Transaction changes a project: Begin locks it, the tree collects the changes, and Commit writes all of them or none.
type Transaction struct {
	*Tree
	// Recovered is the recovery of an interrupted command, or nil.
	Recovered *Recovery

	lock *ProjectLock
}

// Begin locks a project and undoes what an interrupted command left. The caller closes the transaction.
func Begin(ctx context.Context, at Location, o LockOptions) (*Transaction, error) {
	lock, err := Lock(ctx, at, o)
	if err != nil {
		return nil, err
	}
	recovered, err := Recover(lock)
	if err != nil {
		_ = lock.Unlock() // the first error is the cause
		return nil, err
	}
	return &Transaction{NewTree(at.FS, at.Root), recovered, lock}, nil
}

// Commit writes the changes of the tree, as the function Commit does, unless the context is canceled. Moved files are one change.
func (t *Transaction) Commit(ctx context.Context) ([]Change, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	changes, err := Commit(t.Tree, t.lock)
	return t.Paired(changes), err
}

// Close releases the lock. Without Commit, nothing is written. It can be called again.
func (t *Transaction) Close() {
	_ = t.lock.Unlock() // the changes are written, and the lock ends with the process
}
