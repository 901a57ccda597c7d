package vcs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// maxCommits limits the commits that are read, and maxText the size in bytes of a file in one of them.
const (
	maxCommits = 20_000
	maxText    = 1 << 20
)

// errNoHistory means that there is no git history that can be read.
var errNoHistory = errors.New("no git history")

// A History is the git history of a directory up to the checked out commit. It is read from the objects of the repository without the
// git program, which may run what the configuration of the repository names.
type History struct {
	store *filesystem.Storage
	// prefix is the path of the directory in the repository, with a slash at its end, or "".
	prefix  string
	head    plumbing.Hash
	shallow map[plumbing.Hash]bool
	entries map[entryKey]treeEntry
}

type entryKey struct {
	tree plumbing.Hash
	name string
}

// OpenHistory opens the history of a directory. It returns errNoHistory if the directory is in no repository, or in one without
// commits or with objects in another place, as of git clone --shared.
func OpenHistory(dir string) (*History, error) {
	top, own, common, err := findRepository(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(common, "objects", "info", "alternates")); err == nil {
		return nil, errNoHistory
	}
	rel, err := filepath.Rel(top, dir)
	if err != nil {
		return nil, errNoHistory
	}
	h := &History{entries: map[entryKey]treeEntry{}, shallow: map[plumbing.Hash]bool{}}
	if rel != "." {
		h.prefix = filepath.ToSlash(rel) + "/"
	}
	files := dotgit.NewRepositoryFilesystem(osfs.New(own), osfs.New(common))
	// Larger objects are not read into memory.
	h.store = filesystem.NewStorageWithOptions(files, cache.NewObjectLRUDefault(), filesystem.Options{LargeObjectThreshold: maxText})
	ref, err := storer.ResolveReference(h.store, plumbing.HEAD)
	if err != nil {
		return nil, errNoHistory
	}
	h.head = ref.Hash()
	shallow, err := h.store.Shallow()
	if err != nil {
		return nil, fmt.Errorf("reading the git history: %w", err)
	}
	for _, hash := range shallow {
		h.shallow[hash] = true
	}
	return h, nil
}

// findRepository returns the top directory of the repository that contains a directory, and where the state
// of the work tree and of the repository is; these differ for linked work trees.
func findRepository(dir string) (top, own, common string, err error) {
	for top = dir; ; top = filepath.Dir(top) {
		own = filepath.Join(top, ".git")
		info, err := os.Lstat(own)
		switch {
		case err == nil && info.IsDir():
			return top, own, own, nil
		case err == nil && info.Mode().IsRegular():
			if own, err = readPath(own, "gitdir: "); err != nil {
				return "", "", "", err
			}
			common, err = readPath(filepath.Join(own, "commondir"), "")
			if errors.Is(err, os.ErrNotExist) {
				common, err = own, nil
			}
			return top, own, common, err
		}
		if top == filepath.Dir(top) {
			return "", "", "", errNoHistory
		}
	}
}

// readPath reads a file that contains a path, after a prefix. Paths of other machines are refused: to open one can send credentials.
func readPath(file, prefix string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(string(text)), prefix)
	if !ok || strings.HasPrefix(name, "//") || strings.HasPrefix(name, `\\`) {
		return "", errNoHistory
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(file), name)
	}
	return filepath.Clean(name), nil
}

// A Commit is a commit of a History.
type Commit struct {
	history *History
	commit  *commitObject
	parents []*commitObject
}

// Changes returns the commits that added or changed a file, of the latest maxCommits. Where a shallow clone ends, it is not known what
// a commit changed.
func (h *History) Changes(ctx context.Context, name string) ([]*Commit, error) {
	var changes []*Commit
	seen := map[plumbing.Hash]bool{h.head: true}
	queue, err := h.commits([]plumbing.Hash{h.head})
	if err != nil {
		return nil, err
	}
	for n := 0; n < len(queue) && n < maxCommits; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := &Commit{history: h, commit: queue[n]}
		if h.shallow[c.commit.hash] {
			continue
		}
		if c.parents, err = h.commits(c.commit.parents); err != nil {
			return nil, err
		}
		changed, err := c.changes(name)
		if err != nil {
			return nil, err
		}
		if changed {
			changes = append(changes, c)
		}
		for _, parent := range c.parents {
			if !seen[parent.hash] {
				seen[parent.hash] = true
				queue = append(queue, parent)
			}
		}
	}
	return changes, nil
}

func (h *History) commits(hashes []plumbing.Hash) ([]*commitObject, error) {
	var commits []*commitObject
	for _, hash := range hashes {
		c, err := h.commit(hash)
		if err != nil {
			return nil, err
		}
		commits = append(commits, c)
	}
	return commits, nil
}

// changes reports whether a file in a commit differs from that in each of its parents.
func (c *Commit) changes(name string) (bool, error) {
	entry, found, err := c.history.entry(c.commit, name)
	if err != nil || !found {
		return false, err
	}
	for _, parent := range c.parents {
		before, found, err := c.history.entry(parent, name)
		if err != nil || found && before.hash == entry.hash {
			return false, err
		}
	}
	return true, nil
}

// entry finds a file in a commit.
func (h *History) entry(c *commitObject, name string) (entry treeEntry, found bool, err error) {
	entry = treeEntry{hash: c.tree, mode: filemode.Dir}
	for element := range strings.SplitSeq(path.Clean(h.prefix+name), "/") {
		if entry.mode != filemode.Dir {
			return entry, false, nil
		}
		key := entryKey{entry.hash, element}
		child, known := h.entries[key]
		if !known {
			if child, err = h.child(entry.hash, element); err != nil {
				return entry, false, err
			}
			h.entries[key] = child
		}
		if child.hash.IsZero() {
			return entry, false, nil
		}
		entry = child
	}
	return entry, entry.mode.IsFile(), nil
}

// AddedLines returns the lines of a file that the commit added, without the space around them. Files that are too large for source files
// have none.
func (c *Commit) AddedLines(name string) (map[string]bool, error) {
	added := map[string]bool{}
	text, err := c.history.text(c.commit, name)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		added[string(bytes.TrimSpace(line))] = true
	}
	for _, parent := range c.parents {
		text, err := c.history.text(parent, name)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			delete(added, string(bytes.TrimSpace(line)))
		}
	}
	return added, nil
}

func (h *History) text(c *commitObject, name string) ([]byte, error) {
	entry, found, err := h.entry(c, name)
	if err != nil || !found {
		return nil, err
	}
	return h.read(plumbing.BlobObject, entry.hash, maxText)
}
