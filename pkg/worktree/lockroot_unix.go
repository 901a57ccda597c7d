//go:build unix && !solaris && !aix

package worktree

import (
	"errors"
	"os"
	"syscall"
)

// lockRoot locks the directory of a project, also against commands of other users, which have other state directories. It returns
// false if it is locked, and a nil file if the file system cannot lock directories.
func lockRoot(root string) (*os.File, bool) {
	dir, err := os.Open(root)
	if err != nil {
		return nil, true
	}
	err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return dir, true
	}
	_ = dir.Close()
	return nil, !errors.Is(err, syscall.EWOULDBLOCK)
}
