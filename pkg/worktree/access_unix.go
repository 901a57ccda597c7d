//go:build unix

package worktree

import "golang.org/x/sys/unix"

// checkWritable returns an error if the process may not create files in a directory. The kernel takes owners, groups, access
// control lists and read-only mounts into account.
func checkWritable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
