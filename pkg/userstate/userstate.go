// Package userstate finds the directory of the current user in which Operon records what only this user's machine decides
// about a project: the lock, the journal of an unfinished command, and the kubeconfig of a running control plane. None of it is
// below the project's directory, where it could have come with a clone.
//
// # Which directory
//
// It is operon in XDG_STATE_HOME, or by default in ~/.local/state, on macOS in ~/Library/Application Support, and on Windows in
// %LocalAppData%. Where that cannot be written to, as in a container whose user has no home directory, it is operon-state-UID
// in the directory for temporary files. Only the user can read and write it, and one that belongs to another user is refused.
//
// # One directory per project
//
// A project is identified by the device and the inode of its root. Symbolic links and mounts are the same project, a project
// that was moved keeps its state, and a copy has none. On file systems whose inodes change with each mount, a project that is
// mounted again has no state.
package userstate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// Mode is the mode of the directories.
const Mode fs.FileMode = 0o700

// Dirs returns where the user's state directory can be with the given environment, in the order of preference. It does not look at
// the disk.
func Dirs(getenv func(string) string) []string {
	var dirs []string
	if dir := base(getenv); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, "operon"))
	}
	name := "operon-state"
	if uid := os.Getuid(); uid >= 0 { // on Windows each user has a directory for temporary files
		name += "-" + strconv.Itoa(uid)
	}
	return append(dirs, filepath.Join(os.TempDir(), name))
}

// base returns the directory for the state of all programs, or an empty string.
func base(getenv func(string) string) string {
	home := getenv("HOME")
	switch dir := getenv("XDG_STATE_HOME"); {
	case filepath.IsAbs(dir): // the XDG specification ignores relative paths
		return dir
	case runtime.GOOS == "windows":
		return getenv("LocalAppData")
	case home == "":
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support")
	}
	return filepath.Join(home, ".local", "state")
}

// Find returns the state directory of the project at root, which need not exist: the first of those that exist, or the first one.
func Find(dirs []string, root string) (string, error) {
	name, err := projectName(root)
	if err != nil {
		return "", err
	}
	if len(dirs) == 0 {
		return "", errNone
	}
	for _, dir := range dirs {
		if checkPrivate(dir) == nil && checkPrivate(filepath.Join(dir, name)) == nil {
			return filepath.Join(dir, name), nil
		}
	}
	return filepath.Join(dirs[0], name), nil
}

var errNone = errors.New("there is no directory for Operon's state; set XDG_STATE_HOME to one")

// Make creates the state directory of the project at root in the first of dirs in which that is possible, and returns it.
func Make(dirs []string, root string) (string, error) {
	name, err := projectName(root)
	if err != nil {
		return "", err
	}
	failed := errNone
	for i, dir := range dirs {
		if err = makePrivate(dir, name); err == nil {
			return filepath.Join(dir, name), nil
		}
		if i == 0 {
			failed = fmt.Errorf("creating the directory for Operon's state: %w; set XDG_STATE_HOME to a directory that you can write to", err)
		}
	}
	return "", failed
}

// makePrivate creates dir, its parents and a directory in it, and checks that both belong to the user.
func makePrivate(dir, name string) error {
	if err := os.MkdirAll(filepath.Dir(dir), Mode); err != nil {
		return err
	}
	for _, made := range []string{dir, filepath.Join(dir, name)} {
		if err := makeOne(made); err != nil {
			return err
		}
	}
	return nil
}

func makeOne(dir string) error {
	var err error
	for range 10 { // a command that ends removes the directory of its project
		err = os.Mkdir(dir, Mode)
		if err == nil {
			giveToOwner(dir)
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err = checkPrivate(dir); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// checkPrivate returns an error unless path is a directory that only the current user can write to.
func checkPrivate(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	parent, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = errors.New("it is not a directory")
	if info.IsDir() {
		err = checkOwner(info, parent)
	}
	if err != nil {
		return &fs.PathError{Op: "using", Path: path, Err: err}
	}
	return nil
}

// projectName returns the name of the directory for the project at root.
func projectName(root string) (string, error) {
	id, err := identity(root)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16]), nil
}
