package image

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"
)

type kind int

const (
	plainFolder kind = iota
	plainFile
	symlink
)

func (k kind) String() string { return [...]string{"folder", "file", "symbolic link"}[k] }

// node is a file or folder of an image.
type node struct {
	kind kind
	// layer and entry say where it comes from; own tells that it has an entry, which folders need not.
	layer, entry string
	own          bool
	// data is the content of a file that is kept, target where a link leads to from the root.
	kept     bool
	data     []byte
	target   string
	children map[string]*node
	// opaque and removed tell a folder of a layer what to hide of the layers below.
	opaque  bool
	removed map[string]bool
}

func newFolder(kept bool) *node { return &node{kept: kept, children: map[string]*node{}} }

func (n *node) isFolder() bool { return n.kind == plainFolder }

func (n *node) refuse(err error) error {
	return &LayerError{Layer: n.layer, Entry: n.entry, Err: err}
}

// at finds what lies at a path, without following links.
func (n *node) at(parts []string) *node {
	for _, part := range parts {
		if n = n.children[part]; n == nil {
			return nil
		}
	}
	return n
}

// merge puts a layer's folder on what the layers below have there; entry becomes the name of what cannot be.
func merge(lower, upper *node, entry *string) (*node, error) {
	if lower == nil {
		lower = newFolder(upper.kept)
	}
	for _, name := range slices.Sorted(maps.Keys(upper.children)) {
		// A folder without an entry of its own continues what is below; behind a link that is elsewhere.
		child, below := upper.children[name], lower.children[name]
		if below != nil && below.kind == symlink && child.isFolder() && !child.own && !upper.opaque && !upper.removed[name] {
			*entry = child.first()
			return nil, fmt.Errorf("lies behind the symbolic link %q of an earlier layer", below.entry)
		}
	}
	if upper.opaque {
		clear(lower.children)
	}
	for name := range upper.removed {
		delete(lower.children, name)
	}
	for name, child := range upper.children {
		if !child.isFolder() {
			lower.children[name] = child
			continue
		}
		below := lower.children[name]
		if below != nil && !below.isFolder() {
			below = nil
		}
		merged, err := merge(below, child, entry)
		if err != nil {
			return nil, err
		}
		lower.children[name] = merged
	}
	return lower, nil
}

// first is the name of an entry in a folder that has none of its own.
func (n *node) first() string {
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		child := n.children[name]
		if child.own {
			return child.entry
		}
		if found := child.first(); found != "" {
			return found
		}
	}
	return ""
}

// files is the bundle as a file system.
func (u *unpacker) files() (fs.FS, error) {
	memory := afero.NewBasePathFs(afero.NewMemMapFs(), "/")
	for _, folder := range u.folders {
		parts := strings.Split(folder, "/")
		for i := range parts {
			if at := u.root.at(parts[:i+1]); at != nil && at.kind == symlink {
				return nil, at.refuse(fmt.Errorf("is a symbolic link to %q, and the folder %s of the bundle lies behind it; put the folder itself into the image", cut(at.target), folder))
			}
		}
		at := u.root.at(parts)
		if at == nil || !at.isFolder() {
			continue
		}
		if err := u.write(memory, folder, at); err != nil {
			return nil, err
		}
	}
	return afero.NewIOFS(afero.NewReadOnlyFs(memory)), nil
}

func (u *unpacker) write(to afero.Fs, name string, n *node) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	switch n.kind {
	case plainFolder:
		if err := to.MkdirAll(name, 0o755); err != nil {
			return err
		}
		for _, child := range slices.Sorted(maps.Keys(n.children)) {
			if err := u.write(to, path.Join(name, child), n.children[child]); err != nil {
				return err
			}
		}
		return nil
	case symlink:
		file, err := u.follow(n)
		if err != nil {
			return n.refuse(fmt.Errorf("is a symbolic link %w", err))
		}
		if err := u.hold(int64(len(file.data))); err != nil {
			return n.refuse(err)
		}
		n = file
	}
	return afero.WriteFile(to, name, n.data, 0o644)
}

// follow finds the file of the bundle that a link stands for.
func (u *unpacker) follow(n *node) (*node, error) {
	target := n.target
	for range 40 {
		at := u.root.at(strings.Split(n.target, "/"))
		switch {
		case at == nil:
			return nil, fmt.Errorf("to %q, which the image does not have", cut(target))
		case at.isFolder() || !at.kept:
			return nil, fmt.Errorf("to %q, which is no file of the bundle; put a copy of the file in its place", cut(target))
		case at.kind == plainFile:
			return at, nil
		}
		n = at
	}
	return nil, errors.New("to itself; put the file in its place")
}
