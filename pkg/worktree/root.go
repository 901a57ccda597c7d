package worktree

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/afero"
)

// rootFs is the directory of a project on the file system of the operating system. Unlike with paths, no operation
// can leave the directory through a symbolic link, also if one is created meanwhile. Names are paths below dir.
type rootFs struct {
	root *os.Root
	dir  string
}

// openRoot returns the disk for changes, and a function that closes it. File systems other than the operating system's, such as
// in tests, are used as they are.
func openRoot(d disk) (disk, func(), error) {
	if _, ok := d.fs.(*afero.OsFs); !ok {
		return d, func() {}, nil
	}
	r, err := os.OpenRoot(d.root)
	if err != nil {
		return disk{}, nil, explain("opening the directory of the project", "", err)
	}
	d.fs = rootFs{root: r, dir: d.root}
	return d, func() { _ = r.Close() }, nil
}

// rel returns a name relative to the directory. A name outside of it is refused by the root.
func (r rootFs) rel(name string) string {
	rel, err := filepath.Rel(r.dir, name)
	if err != nil {
		return name
	}
	return rel
}

// Name implements afero.Fs with the name of the file system of the operating system.
func (r rootFs) Name() string { return (afero.OsFs{}).Name() }

// Create implements afero.Fs.
func (r rootFs) Create(name string) (afero.File, error) {
	return r.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open implements afero.Fs.
func (r rootFs) Open(name string) (afero.File, error) { return r.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile implements afero.Fs.
func (r rootFs) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	f, err := r.root.OpenFile(r.rel(name), flag, mode)
	if err != nil {
		return nil, err // not a nil *os.File in the interface
	}
	return f, nil
}

// Mkdir implements afero.Fs.
func (r rootFs) Mkdir(name string, mode fs.FileMode) error { return r.root.Mkdir(r.rel(name), mode) }

// MkdirAll implements afero.Fs.
func (r rootFs) MkdirAll(name string, mode fs.FileMode) error {
	return r.root.MkdirAll(r.rel(name), mode)
}

// Remove implements afero.Fs.
func (r rootFs) Remove(name string) error { return r.root.Remove(r.rel(name)) }

// RemoveAll implements afero.Fs.
func (r rootFs) RemoveAll(name string) error { return r.root.RemoveAll(r.rel(name)) }

// Rename implements afero.Fs.
func (r rootFs) Rename(from, to string) error { return r.root.Rename(r.rel(from), r.rel(to)) }

// Stat implements afero.Fs.
func (r rootFs) Stat(name string) (fs.FileInfo, error) { return r.root.Stat(r.rel(name)) }

// Chmod implements afero.Fs.
func (r rootFs) Chmod(name string, mode fs.FileMode) error { return r.root.Chmod(r.rel(name), mode) }

// Chown implements afero.Fs.
func (r rootFs) Chown(name string, uid, gid int) error { return r.root.Chown(r.rel(name), uid, gid) }

// Chtimes implements afero.Fs.
func (r rootFs) Chtimes(name string, atime, mtime time.Time) error {
	return r.root.Chtimes(r.rel(name), atime, mtime)
}

// LstatIfPossible implements afero.Lstater.
func (r rootFs) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	info, err := r.root.Lstat(r.rel(name))
	return info, true, err
}

// ReadlinkIfPossible implements afero.LinkReader.
func (r rootFs) ReadlinkIfPossible(name string) (string, error) {
	return r.root.Readlink(r.rel(name))
}
