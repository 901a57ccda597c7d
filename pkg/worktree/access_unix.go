//go:build unix

package worktree

import "golang.org/x/sys/unix"

// writable asks the kernel, which knows about owners, groups, lists and read-only mounts.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
