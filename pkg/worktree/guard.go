package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
)

// disk is a project's folder on a file system. Names are slash-separated and relative to the root.
type disk struct {
	fs   afero.Fs
	root string
}

func (d disk) abs(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// real tells whether the folder belongs to the operating system: only then do locks and access
// rights mean something. A wrapper that passes on the name of what it wraps counts as what it wraps.
func (d disk) real() bool { return d.fs.Name() == (afero.OsFs{}).Name() }

func (d disk) lstat(name string) (fs.FileInfo, error) {
	if l, ok := d.fs.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(d.abs(name))
		return info, err
	}
	return d.fs.Stat(d.abs(name))
}

// maxLinks is where following symbolic links ends, as in most kernels.
const maxLinks = 40

// resolve returns the name that name stands for once the symbolic links in it are followed. It is an
// error when a link leads out of the root, when a file is where a folder must be, and when the target
// itself is anything but a regular file or absent.
func (d disk) resolve(name string) (string, error) {
	if name == "." || !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name {
		return "", fmt.Errorf("%s is not the name of a file in the project", name)
	}
	if name == lockFile || name == doneFile || name == txnDir || strings.HasPrefix(name, txnDir+"/") {
		return "", fmt.Errorf("%s is reserved for transactions", name)
	}
	var done []string
	rest := strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return "", outside(name, name)
			}
			done = done[:len(done)-1]
			continue
		}
		here := path.Join(append(append([]string(nil), done...), part)...)
		info, err := d.lstat(here)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			done = append(done, part)
		case err != nil:
			return "", explain("looking at", here, err)
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return "", &BlockedError{At: here, Problem: "is one of too many symbolic links on the way to " + name}
			}
			target, fromRoot, err := d.follow(name, here)
			if err != nil {
				return "", err
			}
			if fromRoot {
				done = nil
			}
			// What leaves the root through a link must be told by the link's name.
			if !fromRoot && escapes(len(done), target) {
				return "", outside(name, here)
			}
			rest = append(strings.Split(target, "/"), rest...)
		case info.IsDir() && len(rest) == 0:
			return "", &BlockedError{At: here, Problem: "is a folder, but a file of that name is to be written"}
		case !info.IsDir() && len(rest) > 0:
			return "", &BlockedError{At: here, Problem: fmt.Sprintf("is a file, but %s needs a folder of that name", name)}
		case !info.IsDir() && !info.Mode().IsRegular():
			return "", &BlockedError{At: here, Problem: "is not a regular file"}
		default:
			done = append(done, part)
		}
	}
	if len(done) == 0 {
		return "", fmt.Errorf("%s leads to the project's own folder; remove the link", name)
	}
	return path.Join(done...), nil
}

// follow reads the symbolic link here. An absolute target is made relative to the root.
func (d disk) follow(name, here string) (target string, fromRoot bool, err error) {
	reader, ok := d.fs.(afero.LinkReader)
	if !ok {
		return "", false, fmt.Errorf("%s is a symbolic link, which this file system cannot read", here)
	}
	target, err = reader.ReadlinkIfPossible(d.abs(here))
	if err != nil {
		return "", false, explain("reading the link", here, err)
	}
	if !filepath.IsAbs(target) {
		return filepath.ToSlash(target), false, nil
	}
	roots := []string{d.root}
	if d.real() {
		if resolved, err := filepath.EvalSymlinks(d.root); err == nil {
			roots = append(roots, resolved)
		}
	}
	for _, root := range roots {
		if rel, err := filepath.Rel(root, target); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true, nil
		}
	}
	return "", false, outside(name, here)
}

// escapes tells whether a relative link target climbs above a folder at the given depth.
func escapes(depth int, target string) bool {
	for _, part := range strings.Split(target, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// errNotRegular is why a pipe or a device is not read.
var errNotRegular = errors.New("it is not a regular file; move it away")

// BlockedError tells that something other than a regular file is where a file is to be read or written.
type BlockedError struct {
	// At is what is in the way, relative.
	At string
	// Problem goes on after it: "is a folder, but …".
	Problem string
}

func (e *BlockedError) Error() string { return e.At + " " + e.Problem + "; move it away" }

// OnePerCause returns the first of each group of errors about the same symbolic link or the same blocking file.
func OnePerCause(problems []error) []error {
	seen := map[string]bool{}
	var kept []error
	for _, err := range problems {
		at := ""
		if blocked, ok := errors.AsType[*BlockedError](err); ok {
			at = blocked.At
		}
		if out, ok := errors.AsType[*OutsideError](err); ok {
			at = out.Link
		}
		if at != "" && seen[at] {
			continue
		}
		seen[at] = true
		kept = append(kept, err)
	}
	return kept
}

// Blocked returns the error that keeps the file from being read or written, or nil.
func (t *Tree) Blocked(name string) error {
	_, err := disk{fs: t.fs, root: t.root}.resolve(name)
	return err
}

// OutsideError tells that a symbolic link would take a change out of the project.
type OutsideError struct {
	// Path is the file that was to change, Link the symbolic link on its way; both relative.
	Path, Link string
}

func (e *OutsideError) Error() string {
	if e.Path == e.Link {
		return fmt.Sprintf("%s is a symbolic link that leads out of the project; replace it by a file of its own", e.Link)
	}
	return fmt.Sprintf("%s would be written outside of the project, because %s is a symbolic link that leads out of it; replace the link by a folder of its own", e.Path, e.Link)
}

func outside(name, link string) error { return &OutsideError{Path: name, Link: link} }
