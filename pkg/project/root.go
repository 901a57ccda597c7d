package project

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"
)

// ErrNotAProject tells that neither a folder nor any above it holds a PROJECT file.
var ErrNotAProject = errors.New("not a project: there is no " + FileName +
	" file in this folder or any above it; go to a project's folder, name it with -C, or create one with init")

// FindRoot returns the nearest folder with a PROJECT file, from the absolute path dir upwards. The error
// wraps ErrNotAProject where there is none.
func FindRoot(fsys afero.Fs, dir string) (string, error) {
	var folder string
	for at := filepath.Clean(dir); ; {
		isFile, err := projectFileIn(fsys, at)
		switch {
		case err != nil:
			return "", fmt.Errorf("%s: %w", relative(dir, at), err)
		case isFile:
			return at, nil
		}
		if info, err := fsys.Stat(filepath.Join(at, FileName)); err == nil && info.IsDir() && folder == "" {
			folder = relative(dir, at)
		}
		parent := filepath.Dir(at)
		if parent == at {
			break
		}
		at = parent
	}
	if folder != "" {
		// On a file system that ignores case this may well be a folder of other meaning: only a remark.
		return "", fmt.Errorf("%w (%s is a folder, not a file)", ErrNotAProject, folder)
	}
	return "", ErrNotAProject
}

// projectFileIn tells whether a folder holds a PROJECT file; what exists but cannot be looked at is an error.
func projectFileIn(fsys afero.Fs, dir string) (bool, error) {
	name := filepath.Join(dir, FileName)
	info, err := fsys.Stat(name)
	switch {
	case err == nil:
		return !info.IsDir(), nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, reason(err)
	}
	if links, ok := fsys.(afero.Lstater); ok {
		if _, used, err := links.LstatIfPossible(name); used && err == nil {
			return false, errors.New("the symbolic link leads to no file; restore the file, or remove the link")
		}
	}
	return false, nil
}

// Load reads the PROJECT file of the folder root.
func Load(fsys afero.Fs, root string) (*Config, error) {
	data, err := readProject(fsys, root)
	if err != nil {
		return nil, err
	}
	return Parse(data)
}

// LoadWithoutLayout reads the PROJECT of a folder, which may lack the layout, for commands that change
// nothing of what a layout arranges.
func LoadWithoutLayout(fsys afero.Fs, root string) (*Config, error) {
	data, err := readProject(fsys, root)
	if err != nil {
		return nil, err
	}
	return parse(data)
}

func readProject(fsys afero.Fs, root string) ([]byte, error) {
	name := filepath.Join(root, FileName)
	if info, err := fsys.Stat(name); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder, not a file; rename it, or create the project elsewhere", FileName)
	}
	data, err := readRegular(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotAProject
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", FileName, reason(err))
	}
	return data, nil
}

// relative names the PROJECT of the folder at as seen from dir, for messages without absolute paths.
func relative(dir, at string) string {
	rel, err := filepath.Rel(dir, filepath.Join(at, FileName))
	if err != nil {
		return FileName
	}
	return filepath.ToSlash(rel)
}

// reason strips the absolute path that the file system put around an error.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
