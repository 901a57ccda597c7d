package worktree

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
)

// LinkedDir returns the directory of the project that a symbolic link on disk refers to. ok is false for anything else, such as a link to
// a directory outside of the project.
func (t *Tree) LinkedDir(name string) (dir string, ok bool) {
	reader, isReader := t.fs.(afero.LinkReader)
	if !isReader {
		return "", false
	}
	target, err := reader.ReadlinkIfPossible(t.abs(name))
	if err != nil || filepath.IsAbs(target) {
		return "", false
	}
	dir = path.Join(path.Dir(name), filepath.ToSlash(target))
	if dir == "." || dir == ".." || strings.HasPrefix(dir, "../") {
		return "", false
	}
	isDir, err := afero.IsDir(t.fs, t.abs(dir))
	return dir, err == nil && isDir
}
