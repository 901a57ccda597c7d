package worktree

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A Tree is a project with the uncommitted changes of a command: an overlay over the files on disk. Paths are relative to the
// project's root and separated by slashes on all systems. Commit writes the changes.
type Tree struct {
	*files
	over map[string]*overlaid
	// moved maps new names of moved files to the former ones.
	moved map[string]string
}

// overlaid is the new content of a changed file, or its deletion.
type overlaid struct {
	data    []byte
	mode    fs.FileMode
	deleted bool
}

// NewTree returns a tree without changes over the directory root of fsys.
func NewTree(fsys afero.Fs, root string) *Tree {
	return &Tree{files: &files{fs: fsys, root: root, seen: map[string]snapshot{}}, over: map[string]*overlaid{}}
}

// Original returns a tree of the same files without the changes.
func (t *Tree) Original() *Tree { return &Tree{files: t.files, over: map[string]*overlaid{}} }

// Root returns the directory of the tree as given to NewTree.
func (t *Tree) Root() string { return t.root }

// IsRegular reports whether name is a regular file on disk, with symbolic links followed.
func (t *Tree) IsRegular(name string) bool {
	info, err := t.fs.Stat(t.abs(name))
	return err == nil && info.Mode().IsRegular()
}

// Size returns the size in bytes of a file, with symbolic links followed, and 0 if name is not a regular file.
func (t *Tree) Size(name string) int64 {
	if o, ok := t.over[path.Clean(name)]; ok {
		return int64(len(o.data))
	}
	info, err := t.fs.Stat(t.abs(name))
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// rel returns the slash-separated name of a path of the underlying file system.
func (t *Tree) rel(p string) string {
	rel, err := filepath.Rel(t.root, p)
	if err != nil {
		return filepath.ToSlash(filepath.Base(p))
	}
	return filepath.ToSlash(rel)
}

// ReadFile returns the content of a file. The error wraps fs.ErrNotExist if it does not exist.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	name = path.Clean(name)
	if o, ok := t.over[name]; ok {
		if o.deleted {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return bytes.Clone(o.data), nil
	}
	data, err := t.readDisk(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: t.cause(name, err)}
	}
	t.noteConflicts(name, data)
	return data, nil
}

// ReadOptional is ReadFile that returns nil without an error if the file does not exist. An empty file is not nil. Errors
// begin with the name.
func (t *Tree) ReadOptional(name string) ([]byte, error) {
	data, err := t.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
	case data == nil:
		data = []byte{}
	}
	return data, nil
}

// Exists reports whether a file or directory exists.
func (t *Tree) Exists(name string) bool {
	name = path.Clean(name)
	if o, ok := t.over[name]; ok {
		return !o.deleted
	}
	for other, o := range t.over {
		if !o.deleted && strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	_, err := t.fs.Stat(t.abs(name))
	if err != nil {
		t.record(name)
	}
	return err == nil
}

// WriteFile sets the content of a file. A file that exists keeps its mode; a new one gets mode.
func (t *Tree) WriteFile(name string, data []byte, mode fs.FileMode) {
	name = path.Clean(name)
	t.record(name)
	if o := t.over[name]; o != nil && t.moved[name] != "" {
		mode = o.mode
	}
	t.over[name] = &overlaid{data: bytes.Clone(data), mode: mode}
}

// Remove removes a file.
func (t *Tree) Remove(name string) {
	name = path.Clean(name)
	t.record(name)
	t.over[name] = &overlaid{deleted: true}
}

// RemoveIfExists deletes a file that need not exist.
func (t *Tree) RemoveIfExists(name string) {
	if t.Exists(name) {
		t.Remove(name)
	}
}

// Reset discards all changes.
func (t *Tree) Reset() { t.over, t.moved = map[string]*overlaid{}, nil }

// HasChanges reports whether files of the tree were changed.
func (t *Tree) HasChanges() bool { return len(t.over) > 0 }

// Discard drops all changes and what was read, after the files on disk have changed.
func (t *Tree) Discard() {
	t.Reset()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen, t.conflicts = map[string]snapshot{}, nil
}

// Edits returns all changed files by path relative to the root, with nil for those that the tree removes.
func (t *Tree) Edits() map[string][]byte {
	files := map[string][]byte{}
	for name, o := range t.over {
		switch {
		case o.deleted:
			files[name] = nil
		case o.data == nil:
			files[name] = []byte{}
		default:
			files[name] = o.data
		}
	}
	return files
}

// Change is one difference between the disk and the tree.
type Change struct {
	Path string
	// Old is the content on disk, New the future content; nil if the file does not exist.
	Old, New []byte
	// Mode is the mode of a new file.
	Mode fs.FileMode
	// From is the former path of a moved file, whose content there is Old. Only Paired sets it.
	From string
}

// Changes lists the changes that Commit would make, sorted by path.
func (t *Tree) Changes() ([]Change, error) {
	var changes []Change
	for name, o := range t.over {
		old, err := t.readNow(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			old = nil
		case err != nil:
			return nil, explain("reading", name, t.cause(name, err))
		case old == nil:
			old = []byte{}
		}
		c := Change{Path: name, Old: old, Mode: o.mode}
		if !o.deleted {
			c.New = o.data
			if c.New == nil {
				c.New = []byte{}
			}
		}
		if c.Old == nil && c.New == nil || c.Old != nil && c.New != nil && bytes.Equal(c.Old, c.New) {
			continue
		}
		changes = append(changes, c)
	}
	sort.Slice(changes, func(i, j int) bool { return changes[i].Path < changes[j].Path })
	return changes, nil
}

// Walk lists the files in a directory and below it, sorted, except for directories for which skip returns true and for
// files of a running transaction. Symbolic links are listed but not followed. A missing directory has no
// files.
func (t *Tree) Walk(dir string, skip func(name string) bool) ([]string, error) {
	dir = path.Clean(dir)
	seen := map[string]bool{}
	err := afero.Walk(t.fs, t.abs(dir), func(p string, info fs.FileInfo, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return &fs.PathError{Op: "list", Path: t.rel(p), Err: t.cause(t.rel(p), err)}
		}
		name := t.rel(p)
		if name == txnDir && info.IsDir() {
			return filepath.SkipDir
		}
		if info.IsDir() {
			if skip != nil && name != dir && skip(name) {
				return filepath.SkipDir
			}
			return nil
		}
		seen[name] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	skipped := map[string]bool{dir: false, ".": false}
	for name, o := range t.over {
		if dir != "." && !strings.HasPrefix(name, dir+"/") || skip != nil && isSkipped(path.Dir(name), skip, skipped) {
			continue
		}
		seen[name] = !o.deleted
	}
	names := make([]string, 0, len(seen))
	for name, there := range seen {
		if there {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names, nil
}

// isSkipped reports whether skip returns true for a directory or one above it, outermost first. known holds the results so far.
func isSkipped(dir string, skip func(string) bool, known map[string]bool) bool {
	is, ok := known[dir]
	if !ok {
		is = isSkipped(path.Dir(dir), skip, known) || skip(dir)
		known[dir] = is
	}
	return is
}

// cause returns the cause of an error about a name: the file in place of a directory, if there is one.
func (t *Tree) cause(name string, err error) error {
	for dir := path.Dir(name); errors.Is(err, syscall.ENOTDIR) && dir != "."; dir = path.Dir(dir) {
		if info, err := t.fs.Stat(t.abs(dir)); err == nil && !info.IsDir() {
			return &BlockedError{At: dir, Problem: "is a file, but must be a directory"}
		}
	}
	return diag.Cause(err)
}
