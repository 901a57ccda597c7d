package worktree

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Tree is a project as it will be: the files on disk with a command's changes laid over them.
// Paths are relative to the project's root and separated by slashes, whatever the system.
// Nothing reaches the disk before Commit.
type Tree struct {
	fs   afero.Fs
	root string
	over map[string]*overlaid
	// moved holds the former names of files that were moved, by their new ones.
	moved map[string]string

	mu   sync.Mutex
	seen map[string]snapshot
	// conflicts are the merge conflicts of files that ReadFile read from disk.
	conflicts MergeConflictError
}

// snapshot is what the disk held when the tree first looked at a file. Commit compares it with what
// is there by then, so that an edit made meanwhile is not overwritten.
type snapshot struct {
	data  []byte
	there bool
}

// overlaid is a changed file: its new content, or its absence.
type overlaid struct {
	data    []byte
	mode    fs.FileMode
	deleted bool
}

// NewTree lays an empty overlay over the folder root of fsys.
func NewTree(fsys afero.Fs, root string) *Tree {
	return &Tree{fs: fsys, root: root, over: map[string]*overlaid{}, seen: map[string]snapshot{}}
}

// Root is the folder that the tree stands for, as given to NewTree.
func (t *Tree) Root() string { return t.root }

// IsRegular reports whether name is a regular file on disk, with symbolic links followed.
func (t *Tree) IsRegular(name string) bool {
	info, err := t.fs.Stat(t.abs(name))
	return err == nil && info.Mode().IsRegular()
}

// abs is the path of name on the underlying file system.
func (t *Tree) abs(name string) string { return filepath.Join(t.root, filepath.FromSlash(name)) }

// rel is the slash-separated name of a path of the underlying file system.
func (t *Tree) rel(p string) string {
	rel, err := filepath.Rel(t.root, p)
	if err != nil {
		return filepath.ToSlash(filepath.Base(p))
	}
	return filepath.ToSlash(rel)
}

// ReadFile returns the content of a file; the error wraps fs.ErrNotExist where there is none.
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

// readDisk reads a file below the overlay and remembers what was there the first time.
func (t *Tree) readDisk(name string) ([]byte, error) {
	data, err := t.readRegular(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.seen[name]; !ok {
		t.seen[name] = snapshot{data: bytes.Clone(data), there: err == nil}
	}
	return data, err
}

// readRegular reads a file of the disk. It refuses pipes and devices, which might never end.
func (t *Tree) readRegular(name string) ([]byte, error) {
	info, err := t.fs.Stat(t.abs(name))
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if isYAML(name) {
		return safeyaml.ReadFile(t.fs, t.abs(name), safeyaml.MaxSize)
	}
	return afero.ReadFile(t.fs, t.abs(name))
}

// isYAML reports whether a file is YAML by its name.
func isYAML(name string) bool {
	base := path.Base(name)
	return path.Ext(base) == ".yaml" || path.Ext(base) == ".yml" || base == "PROJECT" || base == "Kustomization"
}

// look remembers what the disk holds for name, if that is not known yet. A file that cannot be read
// is left to Commit to complain about.
func (t *Tree) look(name string) {
	t.mu.Lock()
	_, ok := t.seen[name]
	t.mu.Unlock()
	if !ok {
		_, _ = t.readDisk(name)
	}
}

// Exists tells whether there is a file or a folder of that name.
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
		t.look(name)
	}
	return err == nil
}

// WriteFile sets the content of a file. A file that exists keeps its mode; a new one gets mode.
func (t *Tree) WriteFile(name string, data []byte, mode fs.FileMode) {
	name = path.Clean(name)
	t.look(name)
	if o := t.over[name]; o != nil && t.moved[name] != "" {
		mode = o.mode
	}
	t.over[name] = &overlaid{data: bytes.Clone(data), mode: mode}
}

// Remove takes a file away.
func (t *Tree) Remove(name string) {
	name = path.Clean(name)
	t.look(name)
	t.over[name] = &overlaid{deleted: true}
}

// Reset discards all changes.
func (t *Tree) Reset() { t.over, t.moved = map[string]*overlaid{}, nil }

// Overlay returns the changed files that exist, by path relative to the root.
func (t *Tree) Overlay() map[string][]byte {
	files := map[string][]byte{}
	for name, o := range t.over {
		if !o.deleted {
			files[name] = o.data
		}
	}
	return files
}

// Removed lists the files that the tree takes away from the disk, sorted.
func (t *Tree) Removed() []string {
	var names []string
	for name, o := range t.over {
		if o.deleted {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// Change is one difference between the disk and the tree.
type Change struct {
	Path string
	// Old is the content on disk, New the one to come; nil where the file does not exist.
	Old, New []byte
	// Mode is the mode of a file that New creates.
	Mode fs.FileMode
	// From is where a moved file was, with Old as its content there; only Paired sets it.
	From string
}

// Changes lists what Commit would do, sorted by path. Files whose content stays as it is are left out.
func (t *Tree) Changes() ([]Change, error) {
	var changes []Change
	for name, o := range t.over {
		old, err := t.readRegular(name)
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

// Walk lists the files below a folder of the tree, sorted, leaving out folders that skip names and
// what a running transaction keeps in .operon. Symbolic links are listed, not followed.
// A folder that does not exist has no files.
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
		if name == txnDir || name == lockFile || name == doneFile {
			if info.IsDir() {
				return filepath.SkipDir
			}
			return nil
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
	for name, o := range t.over {
		if dir != "." && !strings.HasPrefix(name, dir+"/") || skip != nil && skipped(name, dir, skip) {
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

// skipped tells whether a folder between dir and name is one that skip names.
func skipped(name, dir string, skip func(string) bool) bool {
	for d := path.Dir(name); d != dir && d != "."; d = path.Dir(d) {
		if skip(d) {
			return true
		}
	}
	return false
}

// cause returns the cause of an error about a name: the file that is where a directory is needed, if there is one.
func (t *Tree) cause(name string, err error) error {
	for dir := path.Dir(name); errors.Is(err, syscall.ENOTDIR) && dir != "."; dir = path.Dir(dir) {
		if info, err := t.fs.Stat(t.abs(dir)); err == nil && !info.IsDir() {
			return &BlockedError{At: dir, Problem: "is a file, but must be a directory"}
		}
	}
	return Cause(err)
}

// Cause strips the absolute path that the file system put around an error.
func Cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}
