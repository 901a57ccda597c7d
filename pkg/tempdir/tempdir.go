// Package tempdir creates directories for temporary files. New and NewGo return a Dir, which is locked while its process
// runs; New and Sweep remove the directories of processes that were killed. Replace writes a file by way of a temporary one.
package tempdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/gofrs/flock"
)

// lockFile is the name of the file in each directory that its process has locked.
const lockFile = "lock"

// A Dir is a temporary directory. Only the current user can read it.
type Dir struct {
	// Path is absolute.
	Path string

	lock    *flock.Flock
	release func()
}

// New creates a directory whose name starts with name, and removes the directories of dead processes. Parent is the directory for
// the temporary files of all users; empty means the system's.
func New(parent, name string) (*Dir, error) {
	base, err := basePath(parent)
	if err != nil {
		return nil, fmt.Errorf("creating a temporary directory: %w", err)
	}
	sweep(base)
	// A sweep of another process may remove base, which it finds empty, or mistake a
	// directory that isn't locked yet for one that a dead process left.
	for range 5 {
		var d *Dir
		if d, err = create(base, name); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return d, err
		}
		if _, missing := os.Stat(filepath.Dir(base)); missing != nil {
			break
		}
	}
	return nil, err
}

// Sweep removes the directories of dead processes of the current user. It takes one system call where there are none.
func Sweep(parent string) {
	if base, err := basePath(parent); err == nil {
		sweep(base)
	}
}

// basePath returns the directory of the current user's temporary directories.
func basePath(parent string) (string, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	parent, err := filepath.Abs(parent)
	if err != nil {
		return "", err
	}
	name := "operon"
	if uid := os.Getuid(); uid >= 0 { // on Windows each user has a parent directory
		name += "-" + strconv.Itoa(uid)
	}
	return filepath.Join(parent, name), nil
}

func create(base, name string) (*Dir, error) {
	if err := os.Mkdir(base, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("creating a temporary directory: %w; set TMPDIR to a directory that can be written to", err)
	}
	if err := checkOwner(base); err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(base, name+"-")
	if err != nil {
		return nil, fmt.Errorf("creating a temporary directory: %w", err)
	}
	d := &Dir{Path: path, lock: flock.New(filepath.Join(path, lockFile)), release: func() {}}
	locked, err := d.lock.TryLock()
	if err == nil && locked {
		_, err = os.Lstat(d.lock.Path()) // it may have been removed before it was locked
	} else if err == nil {
		err = fs.ErrNotExist // a sweep has locked it
	} else if errors.Is(err, errors.ErrUnsupported) {
		err = nil // the file system has no locks, so no sweep can lock it either
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("creating a temporary directory: %w", err), d.Remove())
	}
	return d, nil
}

// checkOwner returns an error unless base is a directory that only the current user can write to.
func checkOwner(base string) error {
	info, err := os.Lstat(base)
	if err != nil {
		return fmt.Errorf("creating a temporary directory: %w", err)
	}
	if !info.IsDir() || !isOwn(info) {
		return fmt.Errorf("creating a temporary directory: %s is not a directory that belongs to this user and no other can read; remove it or set TMPDIR", base)
	}
	return nil
}

// Remove removes the directory and its content.
func (d *Dir) Remove() error {
	err := d.lock.Close()
	if err = errors.Join(err, os.RemoveAll(d.Path)); err != nil {
		err = fmt.Errorf("removing a temporary directory: %w", err)
	}
	d.release()
	_ = os.Remove(filepath.Dir(d.Path)) // fails if other directories remain
	return err
}

func sweep(base string) {
	entries, err := os.ReadDir(base)
	if err != nil || checkOwner(base) != nil {
		return
	}
	for _, entry := range entries {
		removeDead(filepath.Join(base, entry.Name()))
	}
	_ = os.Remove(base) // fails if other directories remain
}

// removeDead removes a directory unless its process is alive.
func removeDead(dir string) {
	file := filepath.Join(dir, lockFile)
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		_ = os.Remove(dir) // empty if its process died before it created the lock
		return
	}
	lock := flock.New(file, flock.SetFlag(os.O_RDWR))
	if locked, err := lock.TryLock(); err != nil || !locked {
		return
	}
	if runtime.GOOS == "windows" { // where open files cannot be removed
		_ = lock.Close()
	}
	_ = os.RemoveAll(dir)
	_ = lock.Close()
}
