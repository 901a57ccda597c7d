package image

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
)

// SBOMFile is the path of the SBOM of the manager in an image.
const SBOMFile = "usr/share/sbom/manager.spdx.json"

// ProgramLayers returns a layer with the Go program in a file, and one with its SBOM. Program has the path and the permissions in
// the image. The comment describes the program, creator is the tool for the SBOM.
func ProgramLayers(fsys afero.Fs, file string, program File, comment, creator string, at time.Time) ([]*Layer, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, diag.Cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, diag.Cause(err)
	}
	program.Size, program.Open = info.Size(), opener(fsys, file)
	layer, err := NewLayer(comment, []File{program}, at)
	if err != nil {
		return nil, err
	}
	doc, err := SBOM(f, info.Size(), creator, at)
	if err != nil {
		return nil, err
	}
	sbom, err := NewLayer("the SBOM of "+comment, []File{Text(SBOMFile, 0o444, doc)}, at)
	return []*Layer{layer, sbom}, err
}

// ReadFiles returns the files of a directory, or a single file, for a layer, as the COPY instruction of a Dockerfile at a position
// does. From is relative to the directory root. Links are an error, as their targets may be outside of the directory.
func ReadFiles(fsys afero.Fs, root, from, to string, at diag.Position) (files []File, problems diag.Findings) {
	return readFiles(fsys, root, from, to, at, func(name, _ string, info fs.FileInfo) (File, string) {
		if !info.Mode().IsRegular() {
			return File{}, "is not a regular file; replace it with one"
		}
		return File{Mode: 0o644, Size: info.Size(), Open: opener(fsys, name)}, ""
	})
}

// ReadTree is ReadFiles for scripts and what they need: files stay executable, and relative links stay links if their targets are below
// root. Bytecode of Python and the data of version control are left out.
func ReadTree(fsys afero.Fs, root, from, to string, at diag.Position) ([]File, diag.Findings) {
	return readFiles(fsys, root, from, to, at, func(name, rel string, info fs.FileInfo) (File, string) {
		switch mode := info.Mode(); {
		case mode.IsRegular():
			file := File{Mode: 0o644, Size: info.Size(), Open: opener(fsys, name)}
			if mode.Perm()&0o100 != 0 {
				file.Mode = 0o755
			}
			return file, ""
		case mode&fs.ModeSymlink != 0:
			links, ok := fsys.(afero.LinkReader)
			if !ok {
				break
			}
			target, err := links.ReadlinkIfPossible(name)
			if err != nil {
				return File{}, "cannot read the link: " + diag.Cause(err).Error()
			}
			target = filepath.ToSlash(target)
			if end := path.Join(from, path.Dir(rel), target); path.IsAbs(target) || filepath.IsAbs(target) || end == ".." || strings.HasPrefix(end, "../") {
				return File{}, fmt.Sprintf("links to %s, which the image does not contain; replace it with a file", target)
			}
			return File{Link: target}, ""
		}
		return File{}, "is neither a regular file nor a link; remove it"
	}, "__pycache__", ".git")
}

func opener(fsys afero.Fs, name string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return fsys.Open(name) }
}

// readFiles returns the files of a directory, or a single file. Entry returns the file for an entry that is not a directory, or what is
// wrong with it. Rel is its path relative to from. Directories with the names in skipped are left out.
func readFiles(
	fsys afero.Fs, root, from, to string, at diag.Position, entry func(name, rel string, info fs.FileInfo) (File, string), skipped ...string,
) (files []File, problems diag.Findings) {
	start := filepath.Join(root, filepath.FromSlash(from))
	err := afero.Walk(fsys, start, func(name string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(start, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if info.IsDir() {
			if slices.Contains(skipped, info.Name()) {
				return fs.SkipDir
			}
			files = append(files, File{Name: path.Join(to, rel) + "/", Mode: 0o755})
			return nil
		}
		file, problem := entry(name, rel, info)
		if problem != "" {
			problems.Addf(diag.Position{File: path.Join(from, rel)}, "%s", problem)
			return nil
		}
		file.Name = path.Join(to, rel)
		files = append(files, file)
		return nil
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		problems.Addf(at, "%s not found", from)
	case err != nil:
		problems.Addf(diag.Position{File: from}, "cannot read the file: %v", diag.Cause(err))
	case len(files) == 1 && !strings.HasSuffix(files[0].Name, "/"):
		files[0].Name = to // COPY gives the name of a single file
	}
	return files, problems
}
