package scaffold

import (
	"errors"
	"io/fs"
	"path"

	"github.com/spf13/afero"
)

// Prune takes away the folders that the deletions among changes have left empty. It is no part of the
// transaction: a folder that stays does no harm, as neither go nor git sees it.
func Prune(fsys afero.Fs, root string, changes []Change) {
	d := disk{fs: fsys, root: root}
	for _, c := range changes {
		gone := c.From
		if c.New == nil {
			gone = c.Path
		}
		if gone == "" {
			continue
		}
		for dir := path.Dir(gone); dir != "."; dir = path.Dir(dir) {
			entries, err := afero.ReadDir(fsys, d.abs(dir))
			if err != nil && !errors.Is(err, fs.ErrNotExist) || len(entries) > 0 {
				break
			}
			if err == nil && fsys.Remove(d.abs(dir)) != nil {
				break
			}
		}
	}
}
