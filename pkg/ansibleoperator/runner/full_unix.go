//go:build linux || darwin

package runner

import (
	"fmt"
	"syscall"
)

// isFull returns an error if the file system of a directory has no space or no inodes.
func isFull(dir string) error {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return nil
	}
	if stat.Bavail*uint64(stat.Bsize) < 64<<10 || stat.Files > 0 && stat.Ffree == 0 {
		return fmt.Errorf("the playbook did not run to its end: %w", describeFull(syscall.ENOSPC, dir))
	}
	return nil
}
