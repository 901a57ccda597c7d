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
	directoryKind kind = iota
	fileKind
	symlinkKind
)

func (k kind) String() string { return [...]string{"directory", "file", "symbolic link"}[k] }

// node is a file, directory or symbolic link of an image.
type node struct {
	kind kind
	// layer and entry are its origin. explicit reports that the layer has an entry for it; directories need none.
	layer, entry string
	explicit     bool
	// data is the content of a kept file; target is where a link points, relative to the root.
	kept     bool
	data     []byte
	target   string
	children map[string]*node
	// opaque and removed describe the files of lower layers that a directory of a layer hides.
	opaque  bool
	removed map[string]bool
}

func newDir(kept bool) *node { return &node{kept: kept, children: map[string]*node{}} }

func (n *node) isDir() bool { return n.kind == directoryKind }

// layerError adds the origin of a node to an error.
func (n *node) layerError(err error) error {
	return &LayerError{Layer: n.layer, Entry: n.entry, Err: err}
}

// lookup returns the node at a path, or nil. It does not follow links.
func (n *node) lookup(parts []string) *node {
	for _, part := range parts {
		if n = n.children[part]; n == nil {
			return nil
		}
	}
	return n
}

// merge applies a layer's directory to the same directory of the layers below. It sets entry to the name of the entry that causes an
// error.
func merge(lower, upper *node, entry *string) (*node, error) {
	if lower == nil {
		lower = newDir(upper.kept)
	}
	for _, name := range slices.Sorted(maps.Keys(upper.children)) {
		// A directory without an entry extends the one below, which must not be in another place because of a link.
		child, below := upper.children[name], lower.children[name]
		if below != nil && below.kind == symlinkKind && child.isDir() && !child.explicit && !upper.opaque && !upper.removed[name] {
			*entry = child.firstEntry()
			return nil, fmt.Errorf("is below the symbolic link %q of an earlier layer", below.entry)
		}
	}
	if upper.opaque {
		clear(lower.children)
	}
	for name := range upper.removed {
		delete(lower.children, name)
	}
	for name, child := range upper.children {
		if !child.isDir() {
			lower.children[name] = child
			continue
		}
		below := lower.children[name]
		if below != nil && !below.isDir() {
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

// firstEntry returns the name of the first entry in a directory without an entry.
func (n *node) firstEntry() string {
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		child := n.children[name]
		if child.explicit {
			return child.entry
		}
		if found := child.firstEntry(); found != "" {
			return found
		}
	}
	return ""
}

// files returns the kept files as a file system.
func (u *unpacker) files() (fs.FS, error) {
	memory := afero.NewBasePathFs(afero.NewMemMapFs(), "/")
	for _, dir := range u.dirs {
		parts := strings.Split(dir, "/")
		for i := range parts {
			if at := u.root.lookup(parts[:i+1]); at != nil && at.kind == symlinkKind {
				return nil, at.layerError(fmt.Errorf("is a symbolic link to %q on the path of the bundle's directory %s; replace the link with the directory", truncate(at.target), dir))
			}
		}
		at := u.root.lookup(parts)
		if at == nil || !at.isDir() {
			continue
		}
		if err := u.write(memory, dir, at); err != nil {
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
	case directoryKind:
		if err := to.MkdirAll(name, 0o755); err != nil {
			return err
		}
		for _, child := range slices.Sorted(maps.Keys(n.children)) {
			if err := u.write(to, path.Join(name, child), n.children[child]); err != nil {
				return err
			}
		}
		return nil
	case symlinkKind:
		file, err := u.follow(n)
		if err != nil {
			return n.layerError(fmt.Errorf("is a symbolic link %w", err))
		}
		if err := u.count(int64(len(file.data))); err != nil {
			return n.layerError(err)
		}
		n = file
	}
	return afero.WriteFile(to, name, n.data, 0o644)
}

// follow returns the file of the bundle that is the target of a link.
func (u *unpacker) follow(n *node) (*node, error) {
	target := n.target
	for range 40 {
		at := u.root.lookup(strings.Split(n.target, "/"))
		switch {
		case at == nil:
			return nil, fmt.Errorf("to %q, which the image does not have", truncate(target))
		case at.isDir() || !at.kept:
			return nil, fmt.Errorf("to %q, which is not a file of the bundle; replace the link with a copy of the file", truncate(target))
		case at.kind == fileKind:
			return at, nil
		}
		n = at
	}
	return nil, errors.New("to itself; replace it with the file")
}
