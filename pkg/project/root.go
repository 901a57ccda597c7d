package project

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/layout"
)

// ErrNotAProject reports that neither a directory nor its parents contain a PROJECT file.
var ErrNotAProject = errors.New("not a project: no " + FileName +
	" file in this directory or its parents; change to the directory of a project, pass it with -C, or create a project with 'operon init'")

// FindRoot returns the nearest directory with a PROJECT file: dir, an absolute path, or one of its parents. The error wraps
// ErrNotAProject if there is none.
func FindRoot(fsys afero.Fs, dir string) (string, error) {
	var directory string // the first PROJECT that is a directory
	for at := filepath.Clean(dir); ; {
		isFile, err := projectFileIn(fsys, at)
		switch {
		case err != nil:
			return "", fmt.Errorf("%s: %w", relative(dir, at), err)
		case isFile:
			return at, nil
		}
		if info, err := fsys.Stat(filepath.Join(at, FileName)); err == nil && info.IsDir() && directory == "" {
			directory = relative(dir, at)
		}
		parent := filepath.Dir(at)
		if parent == at {
			break
		}
		at = parent
	}
	if directory != "" {
		return "", fmt.Errorf("%w (%s is a directory)", ErrNotAProject, directory)
	}
	return "", ErrNotAProject
}

// projectFileIn reports whether a directory contains a PROJECT file. A file without access is an error.
func projectFileIn(fsys afero.Fs, dir string) (bool, error) {
	name := filepath.Join(dir, FileName)
	info, err := fsys.Stat(name)
	switch {
	case err == nil:
		return !info.IsDir(), nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, diag.Cause(err)
	}
	if links, ok := fsys.(afero.Lstater); ok {
		if _, used, err := links.LstatIfPossible(name); used && err == nil {
			return false, errors.New("the symbolic link is broken; restore the file, or remove the link")
		}
	}
	return false, nil
}

// Load reads the PROJECT file of the directory root. more are layouts that layout.All does not contain.
func Load(fsys afero.Fs, root string, more ...*layout.Facts) (*Config, error) {
	data, err := readProject(fsys, root)
	if err != nil {
		return nil, err
	}
	return Parse(data, more...)
}

func readProject(fsys afero.Fs, root string) ([]byte, error) {
	name := filepath.Join(root, FileName)
	if info, err := fsys.Stat(name); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; rename it, or create the project in another directory", FileName)
	}
	data, err := readRegular(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotAProject
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", FileName, diag.Cause(err))
	}
	return data, nil
}

// relative returns the path of PROJECT in directory at, relative to dir.
func relative(dir, at string) string {
	rel, err := filepath.Rel(dir, filepath.Join(at, FileName))
	if err != nil {
		return FileName
	}
	return filepath.ToSlash(rel)
}
