package worktree

import "context"

// Updated is the result of Update.
type Updated struct {
	// Changes are sorted by path.
	Changes []Change
	// Recovered is the recovery of an interrupted command, or nil.
	Recovered *Recovery
}

// Update runs a transaction with the changes of a function.
func Update(ctx context.Context, at Location, o LockOptions, change func(*Tree) error) (*Updated, error) {
	tx, err := Begin(ctx, at, o)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	updated := &Updated{Recovered: tx.Recovered}
	if err := change(tx.Tree); err != nil {
		return updated, err
	}
	updated.Changes, err = tx.Commit(ctx)
	return updated, err
}
