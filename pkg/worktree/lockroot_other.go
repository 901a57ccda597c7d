//go:build !unix || solaris || aix

package worktree

import "os"

// lockRoot does nothing, because directories cannot be locked.
func lockRoot(string) (*os.File, bool) { return nil, true }
