package image

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"
)

// LayerError is a layer that is damaged, or that no bundle may have.
type LayerError struct {
	// Layer names the layer; Entry is the name of a file in it, empty where the layer is meant.
	Layer, Entry string
	Err          error
}

func (e *LayerError) Error() string {
	if e.Entry == "" {
		return fmt.Sprintf("%s: %v", e.Layer, e.Err)
	}
	return fmt.Sprintf("%s, entry %q: %v", e.Layer, cut(e.Entry), e.Err)
}

func (e *LayerError) Unwrap() error { return e.Err }

// The names by which a layer removes what is below it.
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// unpacker puts the layers of an image on top of each other, in memory.
type unpacker struct {
	ctx    context.Context
	limits Limits
	// folders are those whose files are kept; of the others only the names are.
	folders []string
	root    *node
	// at names the layer that is being read.
	at string
	// entries, total and held count what Limits bound; names is the bytes of all names.
	entries, names int
	total, held    int64
}

// unpack adds a layer. Its content must have the digest that the image's configuration states.
func (u *unpacker) unpack(name string, layer blob, diffID string) (err error) {
	u.at = name
	entry := ""
	defer func() {
		if err != nil {
			err = &LayerError{Layer: name, Entry: entry, Err: err}
		}
	}()
	packed, err := layer.open()
	if err != nil {
		return err
	}
	defer packed.Close()
	stream, end, err := unpacked(&metered{ctx: u.ctx, r: packed}, u.limits, name)
	if err != nil {
		return fmt.Errorf("cannot be unpacked: %w", err)
	}
	defer end()
	stream.before = u.total
	sum := sha256.New()
	content := io.TeeReader(stream, sum)
	defer func() { u.total += stream.n }()
	if err := u.layer(content, &entry); err != nil {
		return err
	}
	entry = ""
	// The digest is of all there is, also of what follows the end of the tarball.
	if _, err := io.Copy(io.Discard, content); err != nil {
		return readError(err)
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); got != diffID {
		return fmt.Errorf("its content does not fit the digest %s of the image's configuration; build and push the image again", short(diffID))
	}
	return nil
}

// layer reads a tarball on top of what there is; entry is the name that it is at.
func (u *unpacker) layer(content io.Reader, entry *string) error {
	upper := newFolder(false)
	r := tar.NewReader(content)
	for {
		h, err := r.Next()
		switch {
		case err == io.EOF:
			*entry = ""
			merged, err := merge(u.root, upper, entry)
			if err == nil {
				u.root = merged
			}
			return err
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return readError(err)
		}
		*entry = h.Name
		if err := u.add(upper, h, r); err != nil {
			return err
		}
	}
}

// add puts an entry into the layer that is being read.
func (u *unpacker) add(upper *node, h *tar.Header, content io.Reader) error {
	if u.entries++; u.entries > u.limits.Entries {
		return u.tooMany()
	}
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	parts, err := split(h.Name)
	if err != nil {
		return err
	}
	if u.names += len(h.Name) + len(h.Linkname); u.names > maxNames {
		return &LimitError{"makes the names of all entries longer than " + size(maxNames)}
	}
	if len(parts) == 0 {
		if h.Typeflag != tar.TypeDir {
			return errors.New("has no name")
		}
		return nil
	}
	base, parents := parts[len(parts)-1], parts[:len(parts)-1]
	dir, err := u.folder(upper, parents)
	if err != nil {
		return err
	}
	if base == opaque {
		dir.opaque = true
		return nil
	}
	if removed, ok := strings.CutPrefix(base, whiteout); ok {
		switch {
		case strings.HasPrefix(removed, whiteout): // what aufs keeps for itself
			return nil
		case removed == "" || removed == "." || removed == "..":
			return errors.New("removes something outside of its folder")
		}
		if dir.removed == nil {
			dir.removed = map[string]bool{}
		}
		dir.removed[removed] = true
		return nil
	}
	name := path.Join(parts...)
	kept := u.keeps(name)
	if kept && (!utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f })) {
		return errors.New(`has a name with a backslash, a control character or no UTF-8; rename the file`)
	}
	made := &node{layer: u.at, entry: h.Name, own: true, kept: kept}
	switch {
	case sparse(h):
		return errors.New("is a sparse file, which no bundle needs")
	case h.Typeflag == tar.TypeDir:
		if old := dir.children[base]; old != nil && old.isFolder() {
			old.own = true
			return nil
		}
		made.children = map[string]*node{}
	case h.Typeflag == tar.TypeReg:
		made.kind = plainFile
		if kept {
			if made.data, err = u.content(h, content); err != nil {
				return err
			}
		}
	case h.Typeflag == tar.TypeSymlink:
		made.kind = symlink
		if made.target, err = linkTarget(parents, h.Linkname); err != nil {
			return err
		}
	case h.Typeflag == tar.TypeLink:
		target, err := split(h.Linkname)
		if err != nil {
			return fmt.Errorf("is a hard link to %q: %w", cut(h.Linkname), err)
		}
		same := upper.at(target)
		if same == nil {
			same = u.root.at(target)
		}
		switch {
		case same == nil && kept:
			return fmt.Errorf("is a hard link to %q, which the image does not have", cut(h.Linkname))
		case kept && (same.kind != plainFile || !same.kept):
			return fmt.Errorf("is a hard link to %q, which is no file of the bundle; put a copy of the file in its place", cut(h.Linkname))
		}
		made.kind = plainFile
		if kept {
			made.data = same.data
			if err := u.hold(int64(len(made.data))); err != nil {
				return err
			}
		}
	case h.Typeflag == tar.TypeChar || h.Typeflag == tar.TypeBlock:
		return errors.New("is a device; leave it out of the image")
	case h.Typeflag == tar.TypeFifo:
		return errors.New("is a named pipe; leave it out of the image")
	default:
		return fmt.Errorf("is of the unknown type %q; leave it out of the image", string(h.Typeflag))
	}
	if old := dir.children[base]; old != nil && old.isFolder() != made.isFolder() {
		return errors.New("is a folder and a file in the same layer; build the image again")
	}
	dir.children[base] = made
	return nil
}

// content reads a file of the bundle.
func (u *unpacker) content(h *tar.Header, r io.Reader) ([]byte, error) {
	if h.Size > u.limits.File {
		return nil, &LimitError{fmt.Sprintf("has %d bytes, more than the %s that a file of a bundle may have", h.Size, size(u.limits.File))}
	}
	if err := u.hold(h.Size); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, readError(err)
	}
	return data, nil
}

// hold counts bytes that are kept.
func (u *unpacker) hold(n int64) error {
	if u.held += n; u.held > u.limits.Bundle {
		return &LimitError{fmt.Sprintf("makes the bundle larger than %s; OLM takes 1 MiB", size(u.limits.Bundle))}
	}
	return nil
}

func (u *unpacker) tooMany() error {
	return &LimitError{fmt.Sprintf("is one more than the %d files and folders that an image may have", u.limits.Entries)}
}

func (u *unpacker) keeps(name string) bool {
	for _, folder := range u.folders {
		if name == folder || strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

// folder finds a folder of the layer, and makes it where the layer only implies it.
func (u *unpacker) folder(upper *node, parts []string) (*node, error) {
	dir := upper
	for i, part := range parts {
		next := dir.children[part]
		if next == nil {
			if u.entries++; u.entries > u.limits.Entries {
				return nil, u.tooMany()
			}
			next = newFolder(u.keeps(path.Join(parts[:i+1]...)))
			dir.children[part] = next
		}
		if !next.isFolder() {
			return nil, fmt.Errorf("lies behind %q, which is no folder but a %s", path.Join(parts[:i+1]...), next.kind)
		}
		dir = next
	}
	return dir, nil
}

func sparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// readError says what is wrong with a stream, apart from the limits, which say it themselves.
func readError(err error) error {
	if _, ok := errors.AsType[*LimitError](err); ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("cannot be unpacked: %w", redact(err))
}
