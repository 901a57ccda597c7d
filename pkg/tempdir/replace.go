package tempdir

import (
	"io"
	"path/filepath"

	"github.com/spf13/afero"
)

// Replace writes a file that others can read, by way of a temporary one beside it: either all of it is there, or the former file.
func Replace(fsys afero.Fs, name string, write func(io.Writer) error) error {
	f, err := afero.TempFile(fsys, filepath.Dir(name), ".new-")
	if err != nil {
		return err
	}
	err = write(f)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = fsys.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = fsys.Rename(f.Name(), name)
	}
	if err != nil {
		_ = fsys.Remove(f.Name()) // the first error counts
	}
	return err
}
