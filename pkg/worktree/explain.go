package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"syscall"
)

// explain names what was being done to which file, the cause without the machine's paths, and what a
// person can do about it.
func explain(doing, name string, err error) error {
	if name == "" {
		name = "."
	}
	if hint := remedy(err); hint != "" {
		return fmt.Errorf("%s %s: %w; %s", doing, name, Cause(err), hint)
	}
	return fmt.Errorf("%s %s: %w", doing, name, Cause(err))
}

// windowsDiskFull is ERROR_DISK_FULL, which package syscall does not name.
const windowsDiskFull = syscall.Errno(112)

func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT),
		runtime.GOOS == "windows" && errors.Is(err, windowsDiskFull):
		return "free some space and run the command again"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only; work on a copy of the project elsewhere"
	case errors.Is(err, fs.ErrPermission):
		return "make the project's folder and its files writable for you and run the command again"
	case errors.Is(err, syscall.ENOLCK):
		return "the file system grants no locks; if it is NFS, start its lock service or mount it with the option nolock"
	case errors.Is(err, syscall.EXDEV):
		return "it is on another file system than the project's folder; put both on the same one"
	}
	return ""
}
