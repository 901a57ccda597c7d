//go:build unix

package tempdir

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a directory belongs to the current user and is not accessible to others.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
