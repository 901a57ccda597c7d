package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/vcs"
)

// A disk is the directory of a project on a file system. Names are relative to root and separated by slashes.
type disk struct {
	fs   afero.Fs
	root string
	// state is the path of the project's state directory on stateFS, which is not limited to the root.
	stateFS afero.Fs
	state   string
}

func (d disk) abs(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// isReal reports whether this is the operating system's file system, which has locks and permissions. A wrapper with the
// same name counts as well.
func (d disk) isReal() bool { return d.fs.Name() == (afero.OsFs{}).Name() }

func (d disk) lstat(name string) (fs.FileInfo, error) {
	if l, ok := d.fs.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(d.abs(name))
		return info, err
	}
	return d.fs.Stat(d.abs(name))
}

// maxLinks is the maximum number of symbolic links in a path, as in most kernels.
const maxLinks = 40

// resolve returns a name with symbolic links followed. It is an error if a link points out of the root or into the directory of a
// version control system, if a file is in place of a directory, or if the result exists and is not a regular file.
func (d disk) resolve(name string) (string, error) {
	if name == "." || !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name {
		return "", fmt.Errorf("%s is not the name of a file in the project", name)
	}
	if name == txnDir || strings.HasPrefix(name, txnDir+"/") {
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
				return "", outsideError(name, name)
			}
			done = done[:len(done)-1]
			continue
		}
		here := path.Join(append(append([]string(nil), done...), part)...)
		if vcs.Element(part) != "" {
			return "", &RepositoryError{Path: name, Directory: here}
		}
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
			// A link out of the root is reported by its own name.
			if !fromRoot && escapes(len(done), target) {
				return "", outsideError(name, here)
			}
			rest = append(strings.Split(target, "/"), rest...)
		case info.IsDir() && len(rest) == 0:
			return "", &BlockedError{At: here, Problem: "is a directory, but a file must be written there"}
		case !info.IsDir() && len(rest) > 0:
			return "", &BlockedError{At: here, Problem: fmt.Sprintf("is a file, but %s requires a directory", name)}
		case !info.IsDir() && !info.Mode().IsRegular():
			return "", &BlockedError{At: here, Problem: "is not a regular file"}
		default:
			done = append(done, part)
		}
	}
	if len(done) == 0 {
		return "", fmt.Errorf("%s is a symbolic link to the project's directory; remove the link", name)
	}
	return path.Join(done...), nil
}

// follow reads a symbolic link. An absolute target is returned relative to the root.
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
	if d.isReal() {
		if resolved, err := filepath.EvalSymlinks(d.root); err == nil {
			roots = append(roots, resolved)
		}
	}
	for _, root := range roots {
		if rel, err := filepath.Rel(root, target); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true, nil
		}
	}
	return "", false, outsideError(name, here)
}

// escapes reports whether a relative link target is outside of the root, from a directory at the given depth.
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

// errNotRegular is the error for reading a pipe or a device.
var errNotRegular = errors.New("it is not a regular file; move it away")

// BlockedError reports that something other than a regular file is at the path of a file.
type BlockedError struct {
	// At is the relative path of the obstacle.
	At string
	// Problem follows At in the message: "is a directory, but …".
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

// Blocked returns the error that prevents reading or writing a file, or nil.
func (t *Tree) Blocked(name string) error {
	_, err := disk{fs: t.fs, root: t.root}.resolve(name)
	return err
}

// OutsideError reports that a change would be written out of the project through a symbolic link.
type OutsideError struct {
	// Path is the changed file, Link the symbolic link in its path; both are relative.
	Path, Link string
}

func (e *OutsideError) Error() string {
	if e.Path == e.Link {
		return fmt.Sprintf("%s is a symbolic link out of the project; replace it with a regular file", e.Link)
	}
	return fmt.Sprintf("%s would be written outside of the project, because %s is a symbolic link out of it; replace the link with a directory", e.Path, e.Link)
}

// RepositoryError reports that a change would be written to the directory of a version control system.
type RepositoryError struct {
	// Path is the changed file, Directory the one in its path, with links followed; both are relative.
	Path, Directory string
}

func (e *RepositoryError) Error() string {
	if strings.HasPrefix(e.Path, e.Directory) {
		return fmt.Sprintf("%q is in a directory of version control, which Operon never changes", e.Path)
	}
	return fmt.Sprintf("%q is in %q through a symbolic link, a directory of version control, which Operon never changes", e.Path, e.Directory)
}

func outsideError(name, link string) error { return &OutsideError{Path: name, Link: link} }
