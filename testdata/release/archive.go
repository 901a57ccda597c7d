package main

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A file is copied from a source on disk to a path in an archive or package.
type file struct {
	path, source string
	mode         fs.FileMode
}

// sourceFiles are the files that come from the source of Operon.
var sourceFiles = []string{"CHANGELOG.md", "LICENSE", "README.md"}

// archive writes the archive of a platform, in which all files are in one directory.
func (r *release) archive(p platform) error {
	top := r.base(p)
	var files []file
	for _, name := range []string{program, runtimeProgram} {
		name = p.executable(name)
		files = append(files, file{path.Join(top, name), filepath.Join(r.built(p), name), 0o755})
	}
	for _, name := range sourceFiles {
		files = append(files, file{path.Join(top, name), filepath.Join(r.source, name), 0o644})
	}
	docs, err := filesBelow(filepath.Join(r.source, "docs"), path.Join(top, "docs"))
	if err != nil {
		return err
	}
	files = append(files, slices.DeleteFunc(docs, func(f file) bool { return path.Ext(f.path) == ".go" })...)
	for _, name := range completions {
		files = append(files, file{path.Join(top, "completions", name), filepath.Join(r.completions(), name), 0o644})
	}
	pages, err := r.pages()
	if err != nil {
		return err
	}
	for _, name := range pages {
		files = append(files, file{path.Join(top, "man", "man1", name), filepath.Join(r.manuals(), name), 0o644})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })

	name, write := top+".tar.gz", r.tarGzip
	if p.os == "windows" {
		name, write = top+".zip", r.zip
	}
	sum := sha256.New()
	if err := create(r.file(name), func(w io.Writer) error { return write(io.MultiWriter(w, sum), files) }); err != nil {
		return err
	}
	r.archives = append(r.archives, archived{p, name, hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// archiveImage writes the OCI layout of an image as a tar file, which docker load, podman load and skopeo read. Its blobs are compressed
// already.
func (r *release) archiveImage(name string) error {
	files, err := filesBelow(filepath.Join(r.source, "bin", name+"-image"), "")
	if err != nil {
		return err
	}
	return create(r.file(fmt.Sprintf("%s-image_%s.tar", name, r.number())), func(w io.Writer) error { return r.tar(w, files) })
}

// filesBelow returns the files in a directory and below it, with their paths below the directory to of an archive.
func filesBelow(dir, to string) (files []file, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		files = append(files, file{path.Join(to, filepath.ToSlash(relative)), name, 0o644})
		return err
	})
	return files, err
}

// pages returns the names of the manual pages.
func (r *release) pages() (names []string, err error) {
	entries, err := os.ReadDir(r.manuals())
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// tarGzip writes files as tar.gz.
func (r *release) tarGzip(w io.Writer, files []file) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return cmp.Or(r.tar(compressed, files), compressed.Close())
}

// tar writes files as tar, owned by root.
func (r *release) tar(w io.Writer, files []file) error {
	t := tar.NewWriter(w)
	for _, f := range files {
		err := f.read(func(content io.Reader, size int64) error {
			header := tar.Header{Name: f.path, Size: size, Mode: int64(f.mode), ModTime: r.date, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
			if err := t.WriteHeader(&header); err != nil {
				return err
			}
			_, err := io.Copy(t, content)
			return err
		})
		if err != nil {
			return err
		}
	}
	return t.Close()
}

// zip writes files as zip.
func (r *release) zip(w io.Writer, files []file) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		err := f.read(func(content io.Reader, _ int64) error {
			header := zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: r.date}
			header.SetMode(f.mode)
			entry, err := z.CreateHeader(&header)
			if err != nil {
				return err
			}
			_, err = io.Copy(entry, content)
			return err
		})
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// read calls use with the content of the source and its size.
func (f file) read(use func(content io.Reader, size int64) error) error {
	source, err := os.Open(f.source)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // nothing was written
	info, err := source.Stat()
	if err != nil {
		return err
	}
	return use(source, info.Size())
}

// create writes a file.
func create(name string, write func(w io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return cmp.Or(write(f), f.Close())
}
