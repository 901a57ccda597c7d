package worktree

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// files are the files on disk below a tree. Each is read once, so that a command sees one state of the project.
type files struct {
	fs   afero.Fs
	root string

	mu   sync.Mutex
	seen map[string]snapshot
	// conflicts are the merge conflicts of files that ReadFile read from disk.
	conflicts diag.Findings
}

// A snapshot is what a file on disk was when it was read. Commit compares it with the current file, so that edits in between
// are not overwritten.
type snapshot struct {
	data []byte
	// err wraps fs.ErrNotExist if the file did not exist, and is nil if it did.
	err  error
	info fs.FileInfo
}

// abs returns the path of name on the underlying file system.
func (f *files) abs(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// snapshot returns what a file on disk was when it was read, if it was.
func (f *files) snapshot(name string) (snapshot, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, ok := f.seen[name]
	return was, ok
}

// readDisk returns the content of a file on disk when it was first read.
func (f *files) readDisk(name string) ([]byte, error) {
	if was, ok := f.snapshot(name); ok {
		return bytes.Clone(was.data), was.err
	}
	data, info, err := f.readRegular(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.seen[name]; !ok {
		f.seen[name] = snapshot{data: bytes.Clone(data), err: err, info: info}
	}
	return data, err
}

// readNow returns the content of a file on disk. It is not read again if it is the file that was read before.
func (f *files) readNow(name string) ([]byte, error) {
	if was, ok := f.snapshot(name); ok && was.err == nil && timesEachWrite(was.info) {
		if info, err := f.fs.Stat(f.abs(name)); err == nil && os.SameFile(info, was.info) && isUnwritten(was.info, info) {
			return was.data, nil
		}
	}
	data, _, err := f.readRegular(name)
	return data, err
}

// IsOutdated reports whether a file has been written since it was first read.
func (f *files) IsOutdated(name string) bool {
	was, ok := f.snapshot(name)
	if !ok || was.err != nil {
		return false
	}
	info, err := f.fs.Stat(f.abs(name))
	return err != nil || !isUnwritten(was.info, info)
}

// isUnwritten reports whether nothing was written between two descriptions of a file, as far as size and time show it.
func isUnwritten(before, now fs.FileInfo) bool {
	return before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// timesEachWrite reports whether the file system of a file stores times that are fine enough to differ between two writes: some store
// only seconds.
func timesEachWrite(info fs.FileInfo) bool {
	return info.ModTime().Nanosecond()%int(time.Millisecond) != 0
}

// readRegular reads a file from disk. It refuses pipes and devices, whose reads might not end.
func (f *files) readRegular(name string) ([]byte, fs.FileInfo, error) {
	info, err := f.fs.Stat(f.abs(name))
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
	var data []byte
	if isYAML(name) {
		data, err = safeyaml.ReadFile(f.fs, f.abs(name), safeyaml.MaxSize)
	} else {
		data, err = afero.ReadFile(f.fs, f.abs(name))
	}
	return data, info, err
}

// isYAML reports whether a file is YAML by its name.
func isYAML(name string) bool {
	base := path.Base(name)
	return path.Ext(base) == ".yaml" || path.Ext(base) == ".yml" || base == "PROJECT" || base == "Kustomization"
}

// record records the content of a file on disk unless that is done already. Commit reports files that cannot be read.
func (f *files) record(name string) {
	_, _ = f.readDisk(name)
}
