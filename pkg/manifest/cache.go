package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Built is what a kustomization was built to, with all that was looked at on the way: the same questions with
// the same answers give the same objects.
type Built struct {
	Kustomize string   `json:"kustomize"`
	Folder    string   `json:"folder"`
	Questions []answer `json:"questions"`
	Output    []byte   `json:"output"`
}

// answer is what a file system said about a path.
type answer struct {
	Op     string `json:"op"`
	Path   string `json:"path"`
	Answer string `json:"answer"`
}

// BuildAgain is BuildOver with what it gave before; nil where that is not known. The second result is for the
// next time: nil where the kustomization takes anything from elsewhere, or where it is the same again.
func BuildAgain(dir, folder string, files map[string][]byte, before *Built) ([]byte, *Built, error) {
	fsys := newOverlayFS(dir, files)
	if before != nil && before.Kustomize == KustomizeVersion && before.Folder == folder && before.holds(fsys) {
		return before.Output, nil, nil
	}
	watched := &watchedFS{FileSystem: fsys, seen: map[answer]bool{}}
	out, err := buildOn(fsys, watched, folder)
	if err != nil || watched.foreign {
		return out, nil, err
	}
	return out, &Built{Kustomize: KustomizeVersion, Folder: folder, Questions: watched.answers, Output: out}, nil
}

// ReadBuilt reads what was kept of a build, nil where it cannot.
func ReadBuilt(data []byte) *Built {
	var b Built
	if json.Unmarshal(data, &b) != nil {
		return nil
	}
	return &b
}

// holds tells whether every question still has its answer.
func (b *Built) holds(fsys filesys.FileSystem) bool {
	for _, q := range b.Questions {
		var now string
		switch q.Op {
		case "read":
			now = readAnswer(fsys.ReadFile(q.Path))
		case "exists":
			now = boolAnswer(fsys.Exists(q.Path))
		case "isdir":
			now = boolAnswer(fsys.IsDir(q.Path))
		case "abs":
			now = absAnswer(fsys.CleanedAbs(q.Path))
		}
		if now != q.Answer {
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

// watchedFS notes what is asked of a file system.
type watchedFS struct {
	filesys.FileSystem
	mu      sync.Mutex
	seen    map[answer]bool
	answers []answer
	// foreign tells that something was asked that is not noted, or that a kustomization names what lies
	// elsewhere.
	foreign bool
}

func (w *watchedFS) note(op, path, said string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := answer{op, path, said}
	if !w.seen[a] {
		w.seen[a] = true
		w.answers = append(w.answers, a)
	}
}

func (w *watchedFS) unknown() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.foreign = true
}

// remote is what the address of a repository or a page looks like, in a kustomization.
var remote = regexp.MustCompile(`(?m)^\s*(?:-|\w+:)\s*["']?[^#]*(?:://|git@|github\.com|\?ref=|\.git\b)`)

// local tells that a kustomization is made of files alone: of no address, no program, and no environment, which
// files of variables may refer to.
func local(kustomization []byte) bool {
	for _, key := range []string{"generators:", "transformers:", "validators:", "helm", "env:", "envs:"} {
		if bytes.Contains(kustomization, []byte(key)) {
			return false
		}
	}
	return !remote.Match(kustomization)
}

// isKustomization tells whether a file is one that may name remote resources.
func isKustomization(path string) bool {
	switch filepath.Base(path) {
	case "kustomization.yaml", "kustomization.yml", "Kustomization":
		return true
	}
	return false
}

func (w *watchedFS) ReadFile(path string) ([]byte, error) {
	data, err := w.FileSystem.ReadFile(path)
	w.note("read", path, readAnswer(data, err))
	if isKustomization(path) && !local(data) {
		w.unknown()
	}
	return data, err
}

func (w *watchedFS) Exists(path string) bool {
	yes := w.FileSystem.Exists(path)
	w.note("exists", path, boolAnswer(yes))
	return yes
}

func (w *watchedFS) IsDir(path string) bool {
	yes := w.FileSystem.IsDir(path)
	w.note("isdir", path, boolAnswer(yes))
	return yes
}

func (w *watchedFS) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	dir, file, err := w.FileSystem.CleanedAbs(path)
	w.note("abs", path, absAnswer(dir, file, err))
	return dir, file, err
}

func (w *watchedFS) Open(path string) (filesys.File, error) {
	w.unknown()
	return w.FileSystem.Open(path)
}

func (w *watchedFS) ReadDir(path string) ([]string, error) {
	w.unknown()
	return w.FileSystem.ReadDir(path)
}

func (w *watchedFS) Glob(pattern string) ([]string, error) {
	w.unknown()
	return w.FileSystem.Glob(pattern)
}

func (w *watchedFS) Walk(path string, walk filepath.WalkFunc) error {
	w.unknown()
	return w.FileSystem.Walk(path, walk)
}
