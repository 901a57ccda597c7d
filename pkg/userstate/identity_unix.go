//go:build unix

package userstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// identity returns the device and the inode of a directory.
func identity(dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", &fs.PathError{Op: "identify", Path: dir, Err: errors.ErrUnsupported}
	}
	return fmt.Sprintf("%d %d", stat.Dev, stat.Ino), nil
}

// checkOwner returns an error if a directory belongs to another user, or others can write to it. For root, it may also belong to the
// owner of its parent: sudo can keep the home directory of the user. Nobody but root can give a directory in /tmp that owner.
func checkOwner(info, parent fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	above, alsoOK := parent.Sys().(*syscall.Stat_t)
	switch uid := uint32(os.Getuid()); {
	case !ok || !alsoOK:
		return errors.ErrUnsupported
	case stat.Uid != uid && (uid != 0 || stat.Uid != above.Uid):
		return errors.New("it belongs to another user")
	case info.Mode().Perm()&0o022 != 0:
		return errors.New("other users can write to it")
	}
	return nil
}

// giveToOwner gives a directory that root created to the owner of its parent, who could not use it otherwise.
func giveToOwner(dir string) {
	info, err := os.Stat(filepath.Dir(dir))
	if err != nil || os.Getuid() != 0 {
		return
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 {
		_ = os.Lchown(dir, int(stat.Uid), int(stat.Gid))
	}
}
