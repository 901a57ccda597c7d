package vcs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// The package plumbing/object of go-git decodes objects, too, but links 60 packages for signatures and diffs. The formats are described in
// https://git-scm.com/book/en/v2/Git-Internals-Git-Objects.

// commitObject is a commit as far as a history needs it.
type commitObject struct {
	hash, tree plumbing.Hash
	parents    []plumbing.Hash
}

type treeEntry struct {
	mode filemode.FileMode
	hash plumbing.Hash
}

var errMalformed = errors.New("malformed object")

// read returns the content of an object, or nil if it is larger than limit, unless that is 0.
func (h *History) read(kind plumbing.ObjectType, hash plumbing.Hash, limit int64) (data []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("reading the git history: %w", err)
		}
	}()
	o, err := h.store.EncodedObject(kind, hash)
	if err != nil || limit > 0 && o.Size() > limit {
		return nil, err
	}
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(io.LimitReader(r, o.Size()))
}

// commit reads a commit: lines with its tree and its parents come first.
func (h *History) commit(hash plumbing.Hash) (*commitObject, error) {
	data, err := h.read(plumbing.CommitObject, hash, 0)
	if err != nil {
		return nil, err
	}
	c := &commitObject{hash: hash}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if key != "tree" && key != "parent" {
			break
		}
		if !plumbing.IsHash(value) {
			return nil, fmt.Errorf("reading the git history: commit %s: %w", hash, errMalformed)
		}
		if key == "tree" {
			c.tree = plumbing.NewHash(value)
		} else {
			c.parents = append(c.parents, plumbing.NewHash(value))
		}
	}
	return c, nil
}

// child reads the entry of a tree with a name; a missing one is zero. A tree is a list of mode, space, name, zero byte and the bytes of a
// hash.
func (h *History) child(tree plumbing.Hash, name string) (entry treeEntry, err error) {
	data, err := h.read(plumbing.TreeObject, tree, 0)
	if err != nil {
		return entry, err
	}
	for len(data) > 0 {
		head, rest, found := bytes.Cut(data, []byte{0})
		if !found || len(rest) < len(entry.hash) {
			return entry, fmt.Errorf("reading the git history: tree %s: %w", tree, errMalformed)
		}
		if mode, own, _ := strings.Cut(string(head), " "); own == name {
			if entry.mode, err = filemode.New(mode); err != nil {
				return entry, fmt.Errorf("reading the git history: tree %s: %w", tree, err)
			}
			copy(entry.hash[:], rest)
			return entry, nil
		}
		data = rest[len(entry.hash):]
	}
	return entry, nil
}
