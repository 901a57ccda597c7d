package action

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
	// rootFile contains the root of the project that a directory of records belongs to.
	rootFile = "root"
	// maxRecords is the number of records of one kind that are kept for a project: each change of a bundle adds one.
	maxRecords = 16
)

// The kinds of records. Base and bundle records contain what was generated, to distinguish the user's edits from changes of
// the code. A build record contains the inputs and the output of kustomize, a findings record the findings about a bundle, a
// rules record the permissions that charts require, a content record what a chart creates, and an images record its images.
const (
	BaseRecord     = "base"
	BundleRecord   = "bundle"
	BuildRecord    = "build"
	FindingsRecord = "findings"
	RulesRecord    = "rules"
	ContentRecord  = "content"
	ImagesRecord   = "images"
)

// A RecordCache contains records of a project in the user's cache directory. Without a cache, it stores nothing.
type RecordCache struct {
	fs afero.Fs
	// root is the project, and dir the directory of its records, or empty for no cache.
	root, dir string
}

// Records returns the record cache of the project.
func (p *Project) Records() RecordCache {
	c := RecordCache{fs: p.FS, root: p.Root}
	if p.CacheDir != "" {
		c.dir = filepath.Join(p.CacheDir, "projects", shortSum(p.Root))
	}
	return c
}

// OpenCache returns the directory for caches of the project, which it creates if necessary. It returns an empty string if there
// is none.
func (p *Project) OpenCache() string { return p.Records().open() }

func shortSum(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// Get returns a record, or nil if there is none.
func (c RecordCache) Get(kind, key string) []byte {
	if c.dir == "" {
		return nil
	}
	data, err := afero.ReadFile(c.fs, filepath.Join(c.dir, kind+"-"+shortSum(key)))
	if err != nil {
		return nil
	}
	return data
}

// Put stores a record and removes the oldest ones of its kind if there are too many. It ignores errors, since records can be
// replaced by new ones.
func (c RecordCache) Put(kind, key string, data []byte) {
	if old := c.Get(kind, key); c.dir == "" || old != nil && bytes.Equal(old, data) || c.open() == "" {
		return
	}
	c.writeFile(kind+"-"+shortSum(key), data)
	files, err := afero.ReadDir(c.fs, c.dir)
	if err != nil {
		return
	}
	files = slices.DeleteFunc(files, func(f fs.FileInfo) bool { return !strings.HasPrefix(f.Name(), kind+"-") })
	slices.SortStableFunc(files, func(a, b fs.FileInfo) int { return cmp.Compare(b.ModTime().UnixNano(), a.ModTime().UnixNano()) })
	for _, f := range files[min(maxRecords, len(files)):] {
		_ = c.fs.Remove(filepath.Join(c.dir, f.Name()))
	}
}

// Prune removes the records of projects that no longer exist.
func (c RecordCache) Prune() {
	projects := filepath.Dir(c.dir)
	dirs, err := afero.ReadDir(c.fs, projects)
	if err != nil {
		return
	}
	for _, dir := range dirs {
		records := filepath.Join(projects, dir.Name())
		root, err := afero.ReadFile(c.fs, filepath.Join(records, rootFile))
		if err != nil {
			continue
		}
		if _, err := c.fs.Stat(string(root)); errors.Is(err, fs.ErrNotExist) {
			_ = c.fs.RemoveAll(records)
		}
	}
}

// open returns the directory of the records and creates it if it does not exist. It returns an empty string on failure.
func (c RecordCache) open() string {
	if c.dir == "" {
		return ""
	}
	if _, err := c.fs.Stat(filepath.Join(c.dir, rootFile)); err != nil {
		c.Prune()
		if err := c.fs.MkdirAll(c.dir, 0o755); err != nil {
			return ""
		}
		c.writeFile(rootFile, []byte(c.root))
	}
	return c.dir
}

// writeFile writes a file in one step, since other processes may write it at the same time.
func (c RecordCache) writeFile(name string, data []byte) {
	f, err := afero.TempFile(c.fs, c.dir, name+".")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = c.fs.Rename(f.Name(), filepath.Join(c.dir, name))
	}
	if err != nil {
		_ = c.fs.Remove(f.Name())
	}
}
