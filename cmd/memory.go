package cmd

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"
)

const (
	// rootFile names the project that a folder of records is about.
	rootFile = "root"
	// keptRecords is how many records of one kind are kept of a project: a bundle leaves one whenever it changes.
	keptRecords = 16
)

// The kinds of records. A base's is what the code gave for it, a bundle's what was generated, by file; both tell
// edits of a person from what has changed in the code. A build's is what kustomize made of which files.
// Findings are those of validating a bundle.
const (
	baseRecord     = "base"
	bundleRecord   = "bundle"
	buildRecord    = "build"
	findingsRecord = "findings"
)

// memory is the folder of the cache with the records of a project, empty where there is no cache.
func (a *app) memory(root string) string {
	if dir := a.cache("projects"); dir != "" {
		return filepath.Join(dir, shortSum(root))
	}
	return ""
}

func shortSum(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// recall gives a record of a project, nil where this machine has none.
func (a *app) recall(root, kind, key string) []byte {
	dir := a.memory(root)
	if dir == "" {
		return nil
	}
	data, err := afero.ReadFile(a.FS, filepath.Join(dir, kind+"-"+shortSum(key)))
	if err != nil {
		return nil
	}
	return data
}

// remember keeps a record of a project. A cache that cannot be written remembers nothing.
func (a *app) remember(root, kind, key string, data []byte) {
	dir := a.memory(root)
	if dir == "" {
		return
	}
	if old := a.recall(root, kind, key); old != nil && bytes.Equal(old, data) {
		return
	}
	if a.openMemory(root) == "" {
		return
	}
	a.replaceFile(dir, kind+"-"+shortSum(key), data)
	a.forgetRecords(dir, kind+"-")
}

// openMemory returns memory and creates the directory if it does not exist. It returns an empty string on failure.
func (a *app) openMemory(root string) string {
	dir := a.memory(root)
	if dir == "" {
		return ""
	}
	if _, err := a.FS.Stat(filepath.Join(dir, rootFile)); err != nil {
		a.forgetProjects(filepath.Dir(dir))
		if err := a.FS.MkdirAll(dir, 0o755); err != nil {
			return ""
		}
		a.replaceFile(dir, rootFile, []byte(root))
	}
	return dir
}

// replaceFile writes a file of the cache whole, whoever else writes it at the same time.
func (a *app) replaceFile(dir, name string, data []byte) {
	f, err := afero.TempFile(a.FS, dir, name+".")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = a.FS.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = a.FS.Remove(f.Name())
	}
}

// forgetProjects drops the records of projects that are not there any more.
func (a *app) forgetProjects(all string) {
	dirs, err := afero.ReadDir(a.FS, all)
	if err != nil {
		return
	}
	for _, dir := range dirs {
		of := filepath.Join(all, dir.Name())
		root, err := afero.ReadFile(a.FS, filepath.Join(of, rootFile))
		if err != nil {
			continue
		}
		if _, err := a.FS.Stat(string(root)); errors.Is(err, fs.ErrNotExist) {
			_ = a.FS.RemoveAll(of)
		}
	}
}

// forgetRecords drops the oldest records of a kind when there are too many.
func (a *app) forgetRecords(dir, prefix string) {
	files, err := afero.ReadDir(a.FS, dir)
	if err != nil {
		return
	}
	files = slices.DeleteFunc(files, func(f fs.FileInfo) bool { return !strings.HasPrefix(f.Name(), prefix) })
	slices.SortStableFunc(files, func(a, b fs.FileInfo) int { return cmp.Compare(b.ModTime().UnixNano(), a.ModTime().UnixNano()) })
	for _, f := range files[min(keptRecords, len(files)):] {
		_ = a.FS.Remove(filepath.Join(dir, f.Name()))
	}
}
