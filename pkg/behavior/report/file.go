package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// FileName is the name of the page in its directory.
const FileName = "index.html"

// marker is at the beginning of each page. Other files are not overwritten.
const marker = `<meta name="generator" content="operon test behavior">`

// CheckDir returns an error if a page can't be written to a directory, which need not exist.
func CheckDir(fsys afero.Fs, dir string) error {
	info, err := fsys.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return diag.Cause(err)
	case !info.IsDir():
		return errors.New("is not a directory")
	}
	f, err := fsys.Open(filepath.Join(dir, FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return diag.Cause(err)
	}
	defer f.Close()
	start, err := io.ReadAll(io.LimitReader(f, 200))
	if err != nil {
		return fmt.Errorf("reading %s: %w", FileName, diag.Cause(err))
	}
	if !bytes.Contains(start, []byte(marker)) {
		return fmt.Errorf("refusing to overwrite %s, which is not a report; move it, or name another directory", FileName)
	}
	return nil
}

// WriteDir creates a directory if it is needed, and writes a page to it at once. write writes its content.
func WriteDir(fsys afero.Fs, dir string, write func(io.Writer) error) error {
	if err := CheckDir(fsys, dir); err != nil {
		return err
	}
	if err := fsys.MkdirAll(dir, 0o755); err != nil {
		return diag.Cause(err)
	}
	if err := tempdir.Replace(fsys, filepath.Join(dir, FileName), write); err != nil {
		return diag.Cause(err)
	}
	return nil
}
