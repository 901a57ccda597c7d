package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

// runPrefix starts the names of the folders that control planes keep their data in.
const runPrefix = "operon-controlplane-"

// runDir is the folder of one running control plane. Its lock is held as long as this process lives,
// so that others can tell the folders of processes that were killed.
type runDir struct {
	path string
	lock *flock.Flock
}

// newRunDir makes a folder in parent and removes those that dead processes left there.
func newRunDir(parent string) (*runDir, error) {
	sweepRunDirs(parent)
	var err error
	// Between the making of the folder and its lock, another process's sweep may take it for a dead one.
	for range 5 {
		var d *runDir
		if d, err = tryRunDir(parent); err == nil {
			return d, nil
		}
	}
	return nil, fmt.Errorf("making a folder for the control plane's data: %w", err)
}

func tryRunDir(parent string) (*runDir, error) {
	path, err := os.MkdirTemp(parent, runPrefix)
	if err != nil {
		return nil, err
	}
	d := &runDir{path: path, lock: flock.New(filepath.Join(path, "lock"))}
	locked, err := d.lock.TryLock()
	if err == nil && !locked {
		err = errors.New("its lock is taken")
	}
	if err == nil {
		// The lock may be on a file that has been swept away.
		_, err = os.Lstat(d.lock.Path())
	}
	if err != nil {
		return nil, errors.Join(err, d.remove())
	}
	return d, nil
}

// remove removes the folder and all in it.
func (d *runDir) remove() error {
	return errors.Join(d.lock.Close(), os.RemoveAll(d.path))
}

// sweepRunDirs removes folders whose process is dead. What cannot be removed, as another user's,
// stays; a folder without a lock is one that is just being made.
func sweepRunDirs(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, runPrefix+"*"))
	for _, dir := range dirs {
		file := filepath.Join(dir, "lock")
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		lock := flock.New(file, flock.SetFlag(os.O_RDWR))
		if locked, err := lock.TryLock(); err != nil || !locked {
			continue
		}
		if runtime.GOOS == "windows" { // where open files cannot be removed
			_ = lock.Close()
		}
		_ = os.RemoveAll(dir)
		_ = lock.Close()
	}
}
