package manifest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Built is the result of building a kustomization with all accesses to the file system: the build can be skipped if they have the
// same results.
type Built struct {
	Kustomize string   `json:"kustomize"`
	Dir       string   `json:"dir"`
	Loose     bool     `json:"loose,omitempty"`
	Accesses  []answer `json:"accesses"`
	Output    []byte   `json:"output"`
}

// An answer is the result of an access to the file system.
type answer struct {
	Op     string `json:"op"`
	Path   string `json:"path"`
	Answer string `json:"answer"`
}

// BuildAgain is Build with a cached result, or nil. The second result is the one to cache: nil if the kustomization is unchanged
// or refers to other machines. loose lets kustomizations read files in other directories, as kustomize does with the flag
// --load-restrictor LoadRestrictionsNone, but none outside of dir.
func (r Remote) BuildAgain(ctx context.Context, dir, path string, loose bool, files map[string][]byte, before *Built) ([]byte, *Built, error) {
	fsys := newOverlayFS(dir, files)
	fsys.remote, fsys.loose = r, loose
	if before != nil && before.Kustomize == kustomizeVersion && before.Dir == path && before.Loose == loose && before.valid(fsys) {
		return before.Output, nil, nil
	}
	watched := &watchedFS{FileSystem: fsys, recorded: map[answer]bool{}}
	out, err := buildOn(ctx, fsys, watched, path)
	if err != nil || watched.uncacheable {
		return out, nil, err
	}
	return out, &Built{Kustomize: kustomizeVersion, Dir: path, Loose: loose, Accesses: watched.answers, Output: out}, nil
}

// ReadBuilt parses a cached result. It returns nil if it is invalid.
func ReadBuilt(data []byte) *Built {
	var b Built
	if json.Unmarshal(data, &b) != nil {
		return nil
	}
	return &b
}

// valid reports whether all accesses to the file system have the same results.
func (b *Built) valid(fsys filesys.FileSystem) bool {
	for _, q := range b.Accesses {
		var result string
		switch q.Op {
		case "read":
			result = readAnswer(fsys.ReadFile(q.Path))
		case "exists":
			result = boolAnswer(fsys.Exists(q.Path))
		case "isdir":
			result = boolAnswer(fsys.IsDir(q.Path))
		case "abs":
			result = absAnswer(fsys.CleanedAbs(q.Path))
		}
		if result != q.Answer {
			return false
		}
	}
	return true
}

func readAnswer(data []byte, err error) string {
	if err != nil {
		return errorAnswer(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func boolAnswer(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func absAnswer(dir filesys.ConfirmedDir, file string, err error) string {
	if err != nil {
		return errorAnswer(err)
	}
	return string(dir) + "\n" + file
}

func errorAnswer(err error) string {
	if errors.Is(err, os.ErrNotExist) {
		return "missing"
	}
	return "error"
}

// watchedFS records the accesses to a file system.
type watchedFS struct {
	filesys.FileSystem
	mu       sync.Mutex
	recorded map[answer]bool
	answers  []answer
	// uncacheable is true after accesses that are not recorded, or if a kustomization refers to remote resources.
	uncacheable bool
}

// record records an access.
func (w *watchedFS) record(op, path, result string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := answer{op, path, result}
	if !w.recorded[a] {
		w.recorded[a] = true
		w.answers = append(w.answers, a)
	}
}

// disable records that the result cannot be cached.
func (w *watchedFS) disable() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uncacheable = true
}

// local reports whether a kustomization uses only files: no URLs, no programs, and no environment variables, to which files of
// variables can refer.
func local(kustomization []byte) bool {
	for _, key := range []string{"generators:", "transformers:", "validators:", "helm", "env:", "envs:"} {
		if bytes.Contains(kustomization, []byte(key)) {
			return false
		}
	}
	return RefuseRemote.check(konfig.DefaultKustomizationFileName(), kustomization) == nil
}

func (w *watchedFS) ReadFile(path string) ([]byte, error) {
	data, err := w.FileSystem.ReadFile(path)
	w.record("read", path, readAnswer(data, err))
	if IsKustomization(path) && !local(data) {
		w.disable()
	}
	return data, err
}

func (w *watchedFS) Exists(path string) bool {
	yes := w.FileSystem.Exists(path)
	w.record("exists", path, boolAnswer(yes))
	return yes
}

func (w *watchedFS) IsDir(path string) bool {
	yes := w.FileSystem.IsDir(path)
	w.record("isdir", path, boolAnswer(yes))
	return yes
}

func (w *watchedFS) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	dir, file, err := w.FileSystem.CleanedAbs(path)
	w.record("abs", path, absAnswer(dir, file, err))
	return dir, file, err
}

func (w *watchedFS) Open(path string) (filesys.File, error) {
	w.disable()
	return w.FileSystem.Open(path)
}

func (w *watchedFS) ReadDir(path string) ([]string, error) {
	w.disable()
	return w.FileSystem.ReadDir(path)
}

func (w *watchedFS) Glob(pattern string) ([]string, error) {
	w.disable()
	return w.FileSystem.Glob(pattern)
}

func (w *watchedFS) Walk(path string, walk filepath.WalkFunc) error {
	w.disable()
	return w.FileSystem.Walk(path, walk)
}
