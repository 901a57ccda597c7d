//go:build !unix

package worktree

// checkWritable returns nil: only a write shows whether the directory is writable.
func checkWritable(string) error { return nil }
