package manifest

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// overlayFS is a directory with changed files in memory. Writes change only the files in memory.
type overlayFS struct {
	rootedFS
	// roots are the paths of the directory: as given, and without symbolic links.
	roots []string
	// files are contents by slash-separated name; nil is a removed file.
	files map[string][]byte
	// loose limits reads to the directory, where kustomize doesn't limit them to a kustomization's directory.
	loose bool
}

func newOverlayFS(dir string, files map[string][]byte) *overlayFS {
	o := &overlayFS{rootedFS: newRootedFS(dir), roots: []string{dir}, files: files}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		o.roots = append(o.roots, real)
	}
	return o
}

// name returns the key of a path in files.
func (o *overlayFS) name(p string) string {
	if !filepath.IsAbs(p) {
		return path.Clean(filepath.ToSlash(p))
	}
	for _, root := range o.roots {
		if rel, err := filepath.Rel(root, p); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return filepath.ToSlash(rel)
		}
	}
	return p
}

// hasBelow reports whether a file in memory is below a directory.
func (o *overlayFS) hasBelow(dir string) bool {
	for name, content := range o.files {
		if content != nil && strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

func (o *overlayFS) ReadFile(p string) ([]byte, error) {
	if o.loose {
		if dir, _, err := o.CleanedAbs(p); err == nil && filepath.IsAbs(o.name(string(dir))) {
			return nil, fmt.Errorf("%s is outside of the project", p)
		}
	}
	content, ok := o.files[o.name(p)]
	switch {
	case !ok:
		return o.rootedFS.ReadFile(p)
	case content == nil:
		return nil, &os.PathError{Op: "open", Path: p, Err: os.ErrNotExist}
	}
	return o.check(p, content, nil)
}

func (o *overlayFS) WriteFile(p string, content []byte) error {
	o.files[o.name(p)] = content
	return nil
}

func (o *overlayFS) Exists(p string) bool {
	name := o.name(p)
	if content, ok := o.files[name]; ok {
		return content != nil
	}
	return o.hasBelow(name) || o.rootedFS.Exists(p)
}

func (o *overlayFS) IsDir(p string) bool {
	name := o.name(p)
	if _, ok := o.files[name]; ok {
		return false
	}
	return o.hasBelow(name) || o.rootedFS.IsDir(p)
}

// CleanedAbs also supports paths that exist only in memory.
func (o *overlayFS) CleanedAbs(p string) (filesys.ConfirmedDir, string, error) {
	name := o.name(p)
	content, ok := o.files[name]
	if ok && content == nil {
		return "", "", &os.PathError{Op: "open", Path: p, Err: os.ErrNotExist}
	}
	dir, file, err := o.rootedFS.CleanedAbs(p)
	if !errors.Is(err, os.ErrNotExist) || !ok && !o.hasBelow(name) {
		return dir, file, err
	}
	abs := filepath.Join(o.roots[len(o.roots)-1], filepath.FromSlash(name))
	if ok {
		return filesys.ConfirmedDir(filepath.Dir(abs)), filepath.Base(abs), nil
	}
	return filesys.ConfirmedDir(abs), "", nil
}
