package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"syscall"

	"github.com/operon-sdk/operon/pkg/diag"
)

// explain wraps an error with the operation, the file, the cause without the path of the project, and a remedy if one
// is known.
func explain(doing, name string, err error) error {
	if name == "" {
		name = "."
	}
	if hint := remedy(err); hint != "" {
		return fmt.Errorf("%s %s: %w; %s", doing, name, diag.Cause(err), hint)
	}
	return fmt.Errorf("%s %s: %w", doing, name, diag.Cause(err))
}

// windowsDiskFull is ERROR_DISK_FULL, which package syscall does not define.
const windowsDiskFull = syscall.Errno(112)

func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT),
		runtime.GOOS == "windows" && errors.Is(err, windowsDiskFull):
		return "free some space and run the command again"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only; work on a writable copy of the project"
	case errors.Is(err, fs.ErrPermission):
		return "make the project's directory and its files writable and run the command again"
	case errors.Is(err, syscall.ENOLCK):
		return "the file system grants no locks; if it is NFS, start its lock service or mount it with the option nolock"
	case errors.Is(err, syscall.EXDEV):
		return "it is on another file system than the project's directory; move both to the same one"
	}
	return ""
}
