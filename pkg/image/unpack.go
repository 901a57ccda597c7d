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
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/operon-sdk/operon/pkg/vcs"
)

// A LayerError reports a layer that is damaged, or that is not permitted in a bundle.
type LayerError struct {
	// Layer describes the layer. Entry is the name of a file in it; it is empty if the error is about the layer.
	Layer, Entry string
	Err          error
}

func (e *LayerError) Error() string {
	if e.Entry == "" {
		return fmt.Sprintf("%s: %v", e.Layer, e.Err)
	}
	return fmt.Sprintf("%s, entry %q: %v", e.Layer, truncate(e.Entry), e.Err)
}

func (e *LayerError) Unwrap() error { return e.Err }

// The names of entries that remove files of lower layers.
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// unpacker applies the layers of an image in memory.
type unpacker struct {
	ctx    context.Context
	limits Limits
	// dirs are the directories whose files are kept. Only the names of other files are.
	dirs []string
	root *node
	// layerName describes the layer that is read.
	layerName string
	// entries, total and kept count entries and bytes for Limits. names counts the bytes of all names.
	entries, names int
	total, kept    int64
}

// unpack applies a layer, whose content must match the digest in the configuration of the image.
func (u *unpacker) unpack(name string, layer blob, diffID string) (err error) {
	u.layerName = name
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
	stream, end, err := decompress(&meteredReader{ctx: u.ctx, r: packed}, u.limits)
	if err != nil {
		return fmt.Errorf("cannot be unpacked: %w", err)
	}
	defer end()
	stream.before = u.total
	sum := sha256.New()
	content := io.TeeReader(stream, sum)
	defer func() { u.total += stream.n }()
	if err := u.apply(content, &entry); err != nil {
		return err
	}
	entry = ""
	// The digest includes data after the end of the tarball.
	if _, err := io.Copy(io.Discard, content); err != nil {
		return readError(err)
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); got != diffID {
		return fmt.Errorf("its content does not match the digest %s in the image's configuration; build and push the image again", shortDigest(diffID))
	}
	return nil
}

// apply applies the tarball of a layer. It sets entry to the name of the current entry, for errors.
func (u *unpacker) apply(content io.Reader, entry *string) error {
	upper := newDir(false)
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

// add adds an entry to the layer that is read.
func (u *unpacker) add(upper *node, h *tar.Header, content io.Reader) error {
	if u.entries++; u.entries > u.limits.Entries {
		return u.tooManyEntries()
	}
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	parts, err := splitName(h.Name)
	if err != nil {
		return err
	}
	if u.names += len(h.Name) + len(h.Linkname); u.names > maxNames {
		return &limitError{"makes the names of all entries exceed " + formatSize(maxNames)}
	}
	if len(parts) == 0 {
		if h.Typeflag != tar.TypeDir {
			return errors.New("has no name")
		}
		return nil
	}
	base, parents := parts[len(parts)-1], parts[:len(parts)-1]
	dir, err := u.parentDir(upper, parents)
	if err != nil {
		return err
	}
	if base == opaque {
		dir.opaque = true
		return nil
	}
	if removed, ok := strings.CutPrefix(base, whiteout); ok {
		switch {
		case strings.HasPrefix(removed, whiteout): // metadata of aufs
			return nil
		case removed == "" || removed == "." || removed == "..":
			return errors.New("removes a file outside of its directory")
		}
		if dir.removed == nil {
			dir.removed = map[string]bool{}
		}
		dir.removed[removed] = true
		return nil
	}
	name := path.Join(parts...)
	kept := u.isKept(name)
	if kept && (!utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f })) {
		return errors.New(`has a name with a backslash, a control character or invalid UTF-8; rename the file`)
	}
	if kept && vcs.Element(name) != "" {
		return errors.New("is in a directory of version control; build the image without it")
	}
	added := &node{layer: u.layerName, entry: h.Name, explicit: true, kept: kept}
	switch {
	case isSparse(h):
		return errors.New("is a sparse file, which is unsupported")
	case h.Typeflag == tar.TypeDir:
		if old := dir.children[base]; old != nil && old.isDir() {
			old.explicit = true
			return nil
		}
		added.children = map[string]*node{}
	case h.Typeflag == tar.TypeReg:
		added.kind = fileKind
		if kept {
			if added.data, err = u.content(h, content); err != nil {
				return err
			}
		}
	case h.Typeflag == tar.TypeSymlink:
		added.kind = symlinkKind
		if added.target, err = linkTarget(parents, h.Linkname); err != nil {
			return err
		}
	case h.Typeflag == tar.TypeLink:
		target, err := splitName(h.Linkname)
		if err != nil {
			return fmt.Errorf("is a hard link to %q: %w", truncate(h.Linkname), err)
		}
		same := upper.lookup(target)
		if same == nil {
			same = u.root.lookup(target)
		}
		switch {
		case same == nil && kept:
			return fmt.Errorf("is a hard link to %q, which the image does not have", truncate(h.Linkname))
		case kept && (same.kind != fileKind || !same.kept):
			return fmt.Errorf("is a hard link to %q, which is not a file of the bundle; replace the link with a copy of the file", truncate(h.Linkname))
		}
		added.kind = fileKind
		if kept {
			added.data = same.data
			if err := u.count(int64(len(added.data))); err != nil {
				return err
			}
		}
	case h.Typeflag == tar.TypeChar || h.Typeflag == tar.TypeBlock:
		return errors.New("is a device; leave it out of the image")
	case h.Typeflag == tar.TypeFifo:
		return errors.New("is a named pipe; leave it out of the image")
	default:
		return fmt.Errorf("has the unknown type %q; leave it out of the image", string(h.Typeflag))
	}
	if old := dir.children[base]; old != nil && old.isDir() != added.isDir() {
		return errors.New("is a directory and a file in the same layer; build the image again")
	}
	dir.children[base] = added
	return nil
}

// content reads a file of the bundle.
func (u *unpacker) content(h *tar.Header, r io.Reader) ([]byte, error) {
	if h.Size > u.limits.File {
		return nil, &limitError{fmt.Sprintf("has %d bytes, more than the maximum of %s for a file of a bundle", h.Size, formatSize(u.limits.File))}
	}
	if err := u.count(h.Size); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, readError(err)
	}
	return data, nil
}

// count counts bytes that are kept.
func (u *unpacker) count(n int64) error {
	if u.kept += n; u.kept > u.limits.Bundle {
		return &limitError{fmt.Sprintf("makes the bundle larger than %s; OLM accepts 1 MiB", formatSize(u.limits.Bundle))}
	}
	return nil
}

func (u *unpacker) tooManyEntries() error {
	return &limitError{fmt.Sprintf("exceeds the maximum of %d files and directories in an image", u.limits.Entries)}
}

func (u *unpacker) isKept(name string) bool {
	return slices.ContainsFunc(u.dirs, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
}

// parentDir returns a directory of the layer. It adds directories without an entry.
func (u *unpacker) parentDir(upper *node, parts []string) (*node, error) {
	dir := upper
	for i, part := range parts {
		next := dir.children[part]
		if next == nil {
			if u.entries++; u.entries > u.limits.Entries {
				return nil, u.tooManyEntries()
			}
			next = newDir(u.isKept(path.Join(parts[:i+1]...)))
			dir.children[part] = next
		}
		if !next.isDir() {
			return nil, fmt.Errorf("has the parent %q, which is a %s", path.Join(parts[:i+1]...), next.kind)
		}
		dir = next
	}
	return dir, nil
}

// isSparse reports whether an entry is a sparse file, whose content the tar reader expands.
func isSparse(h *tar.Header) bool {
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

// readError describes the error of a damaged stream. Limits and ended contexts have descriptions of their own.
func readError(err error) error {
	if _, ok := errors.AsType[*limitError](err); ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("cannot be unpacked: %w", redact(err))
}
