package image

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
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
	program.Size, program.Open = info.Size(), func() (io.ReadCloser, error) { return fsys.Open(file) }
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
		switch {
		case info.IsDir():
			files = append(files, File{Name: path.Join(to, rel) + "/", Mode: 0o755})
		case !info.Mode().IsRegular():
			problems.Addf(diag.Position{File: path.Join(from, rel)}, "is not a regular file; replace it with one")
		default:
			open := func() (io.ReadCloser, error) { return fsys.Open(name) }
			files = append(files, File{Name: path.Join(to, rel), Mode: 0o644, Size: info.Size(), Open: open})
		}
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
