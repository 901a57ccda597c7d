package manifest

import (
	"errors"
	"path/filepath"
	"sync"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// rootedFS is the file system with paths relative to a directory. Kustomize uses the working directory of the process, which a
// library must not change.
type rootedFS struct {
	disk filesys.FileSystem
	dir  string
	*limits
}

// limits are the limits of the files that kustomize reads.
type limits struct {
	mu    sync.Mutex
	paths map[string]bool
	sum   safeyaml.Set
	// remote decides about references to other machines.
	remote Remote
	// refused is the problem of the first file that exceeds a limit or has a refused reference. The errors of kustomize do not wrap it.
	refused error
}

// The limits of all files of a kustomization together. The CRDs of the largest operators have about 60 MiB.
const (
	maxKustomizationSize   = 256 << 20
	maxKustomizationValues = 10_000_000
)

func newRootedFS(dir string) rootedFS {
	return rootedFS{disk: filesys.MakeFsOnDisk(), dir: dir, limits: &limits{
		paths: map[string]bool{}, sum: safeyaml.Set{MaxSize: maxKustomizationSize, MaxNodes: maxKustomizationValues},
	}}
}

// check checks the limits and the references of a file, which can be YAML whatever its name is. After a file that is refused, all
// reads fail, as kustomize might continue without it.
func (r rootedFS) check(path string, data []byte, err error) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused != nil {
		return nil, r.refused
	}
	if err == nil && !r.paths[r.at(path)] {
		r.paths[r.at(path)] = true
		err = r.sum.Check(data)
	}
	if rel, err := filepath.Rel(r.dir, r.at(path)); err == nil {
		path = filepath.ToSlash(rel)
	}
	if limit, ok := errors.AsType[*safeyaml.Error](err); ok {
		r.refused = diag.Findings{Unbounded(path, limit)}
	} else if err == nil {
		err = r.remote.check(path, data)
		r.refused = err
	}
	return data, err
}

func (r rootedFS) at(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.dir, path)
}

func (r rootedFS) Create(path string) (filesys.File, error) { return r.disk.Create(r.at(path)) }
func (r rootedFS) Mkdir(path string) error                  { return r.disk.Mkdir(r.at(path)) }
func (r rootedFS) MkdirAll(path string) error               { return r.disk.MkdirAll(r.at(path)) }
func (r rootedFS) RemoveAll(path string) error              { return r.disk.RemoveAll(r.at(path)) }
func (r rootedFS) Open(path string) (filesys.File, error)   { return r.disk.Open(r.at(path)) }
func (r rootedFS) IsDir(path string) bool                   { return r.disk.IsDir(r.at(path)) }
func (r rootedFS) ReadDir(path string) ([]string, error)    { return r.disk.ReadDir(r.at(path)) }
func (r rootedFS) Exists(path string) bool                  { return r.disk.Exists(r.at(path)) }
func (r rootedFS) WriteFile(path string, content []byte) error {
	return r.disk.WriteFile(r.at(path), content)
}

func (r rootedFS) ReadFile(path string) ([]byte, error) {
	file, err := r.disk.Open(r.at(path))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := safeyaml.ReadAll(file, safeyaml.MaxSize)
	return r.check(path, data, err)
}

func (r rootedFS) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	return r.disk.CleanedAbs(r.at(path))
}

func (r rootedFS) Walk(path string, walk filepath.WalkFunc) error {
	return r.disk.Walk(r.at(path), walk)
}

// Glob returns relative paths for a relative pattern.
func (r rootedFS) Glob(pattern string) ([]string, error) {
	matches, err := r.disk.Glob(r.at(pattern))
	if err != nil || filepath.IsAbs(pattern) {
		return matches, err
	}
	for i, match := range matches {
		if rel, err := filepath.Rel(r.dir, match); err == nil {
			matches[i] = rel
		}
	}
	return matches, nil
}
