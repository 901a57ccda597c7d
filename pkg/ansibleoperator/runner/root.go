package runner

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"github.com/gofrs/flock"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// operatorsDir contains a directory for each operator that uses a root.
	operatorsDir = ".op"
	// lockFile is locked while the operator runs.
	lockFile = "lock"
	// markerFile in the directory of a custom resource contains the name of the operator that uses it.
	markerFile = ".operator"
	// temporaryLink refers to a directory of the operator outside of the root.
	temporaryLink = "tmp"
	// temporaryPrefix begins the name of that directory.
	temporaryPrefix = "operon-"
)

// A root is the directory of all run directories, shared by the operators of a user on a machine.
type root struct {
	dir string
	// own is the directory of this operator, with its Python files.
	own string
	// temporary contains the temporary directories of runs. It is own, or a directory in TMPDIR, which temporaryLink in own refers to.
	temporary string
	lock      *flock.Flock
	end       func(removed bool)
}

// openRoot creates the directory of an operator in a root: in dir, or, if others can write to dir, in the directory of this user below it.
func openRoot(dir string, env *environment, log logr.Logger) (*root, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// This is the parent of the default root, in a directory that all users can write to.
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("directory of runs: %w", err)
		}
	}
	private, err := privateDir(dir)
	if err != nil {
		return nil, err
	}
	if private != dir {
		log.Info("the directory of runs is shared with others; using a private one in it", "directory", private)
		dir = private
	}
	operators := filepath.Join(dir, operatorsDir)
	if err := os.MkdirAll(operators, 0o700); err != nil {
		return nil, fmt.Errorf("directory of runs: %w", err)
	}
	sweep(dir)
	own, err := os.MkdirTemp(operators, "")
	if err != nil {
		return nil, fmt.Errorf("directory of runs: %w", err)
	}
	r := &root{dir: dir, own: own, temporary: own, lock: flock.New(filepath.Join(own, lockFile))}
	if locked, err := r.lock.TryLock(); err == nil && !locked {
		return nil, errors.New("directory of runs: another operator removes it; start again")
	} else if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, fmt.Errorf("directory of runs: %w", err)
	}
	if err := writePython(own); err != nil {
		return nil, errors.Join(fmt.Errorf("directory of runs: %w", describeFull(err, dir)), r.close())
	}
	if parent := env.values["TMPDIR"]; parent != "" {
		if err := r.makeTemporary(env.absolute(parent)); err != nil {
			return nil, errors.Join(fmt.Errorf("directory for temporary files: %w", err), r.close())
		}
	}
	if r.end, err = startGuard(env.python, filepath.Join(own, "guard.py"), dir, own); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// makeTemporary creates the directory for temporary files in a directory, and the link to it before.
func (r *root) makeTemporary(parent string) error {
	r.temporary = filepath.Join(parent, temporaryPrefix+strings.ToLower(rand.Text()[:8]))
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	if err := os.Symlink(r.temporary, filepath.Join(r.own, temporaryLink)); err != nil {
		return err
	}
	return os.Mkdir(r.temporary, 0o700)
}

// removeOwn removes the directory of an operator and the one that its link refers to.
func removeOwn(own string) error {
	var err error
	if target, linkErr := os.Readlink(filepath.Join(own, temporaryLink)); linkErr == nil && strings.HasPrefix(filepath.Base(target), temporaryPrefix) {
		err = os.RemoveAll(target)
	}
	return errors.Join(err, os.RemoveAll(own))
}

// path returns the directory of a custom resource. Names cannot contain other directories.
func (r *root) path(gvk schema.GroupVersionKind, key types.NamespacedName) (string, error) {
	if gvk.Version == "" || gvk.Kind == "" || key.Name == "" {
		return "", fmt.Errorf("%s %s: version, kind and name are required", gvk, key)
	}
	path := r.dir
	for _, name := range []string{gvk.Group, gvk.Version, gvk.Kind, key.Namespace, key.Name} {
		if strings.ContainsAny(name, `/\`+"\x00") || strings.HasPrefix(name, ".") {
			return "", fmt.Errorf("%s %s: %q is not a valid name of a directory", gvk, key, name)
		}
		path = filepath.Join(path, name) // an empty group or namespace has no directory
	}
	return path, nil
}

// claim creates the directory of a custom resource, empty except for artifacts of earlier runs of this operator, and of the last failed one.
func (r *root) claim(dir string) error {
	name := filepath.Base(r.own)
	marker := filepath.Join(dir, markerFile)
	if data, err := os.ReadFile(marker); err == nil && string(data) == name {
		return nil
	}
	if r.isForeign(dir) {
		return fmt.Errorf("%s is in use by another operator; give this one another directory for its runs", dir)
	}
	if err := r.clear(dir); err != nil {
		return err
	}
	if err := makeRunDir(dir); err != nil {
		return err
	}
	return os.WriteFile(marker, []byte(name), 0o600)
}

// makeRunDir creates the directory of a custom resource. Whoever removes the directory of another one may remove a parent at the same
// time, as it is empty.
func makeRunDir(dir string) error {
	var err error
	for range 100 {
		err = os.MkdirAll(dir, 0o700)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) { // removed before or after the last one was to be created
			break
		}
	}
	return err
}

// isForeign reports whether the directory of a custom resource belongs to another operator, which runs.
func (r *root) isForeign(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, markerFile))
	return err == nil && string(data) != filepath.Base(r.own) && r.isAlive(string(data))
}

// isAlive reports whether the operator with a name runs.
func (r *root) isAlive(name string) bool {
	if name == "" || name != filepath.Base(name) {
		return false
	}
	lock := flock.New(filepath.Join(r.dir, operatorsDir, name, lockFile), flock.SetFlag(os.O_RDWR))
	locked, err := lock.TryLock()
	_ = lock.Close()
	return err == nil && !locked
}

// remove removes the directory of a custom resource, and its parents if they are empty.
func (r *root) remove(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing the directory of a run: %w", err)
	}
	for parent := filepath.Dir(dir); parent != r.dir && len(parent) > len(r.dir); parent = filepath.Dir(parent) {
		if os.Remove(parent) != nil { // it contains other directories
			break
		}
	}
	return nil
}

// close removes all directories of the operator, except for failed runs.
func (r *root) close() error {
	name := filepath.Base(r.own)
	var errs []error
	for dir, owner := range runDirs(r.dir) {
		if owner == name {
			errs = append(errs, r.clear(dir))
		}
	}
	errs = append(errs, r.lock.Close(), removeOwn(r.own))
	if r.end != nil {
		r.end(errors.Join(errs...) == nil)
	}
	return errors.Join(errs...)
}

// runDirs returns the directories of custom resources below a root, and the operators that own them.
func runDirs(dir string) map[string]string {
	found := map[string]string{}
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil // removed at the same time
		}
		if strings.HasPrefix(entry.Name(), ".") && path != dir {
			return fs.SkipDir
		}
		if data, err := os.ReadFile(filepath.Join(path, markerFile)); err == nil {
			found[path] = string(data)
			return fs.SkipDir
		}
		return nil
	})
	return found
}

// sweep removes the directories of operators that were killed together with their guard.
func sweep(dir string) {
	r := &root{dir: dir}
	entries, err := os.ReadDir(filepath.Join(dir, operatorsDir))
	if err != nil {
		return
	}
	var dead []string
	for _, entry := range entries {
		if !r.isAlive(entry.Name()) {
			dead = append(dead, entry.Name())
		}
	}
	if len(dead) == 0 {
		return
	}
	for path, owner := range runDirs(dir) {
		if slices.Contains(dead, owner) {
			_ = r.clear(path)
		}
	}
	for _, name := range dead {
		_ = removeOwn(filepath.Join(dir, operatorsDir, name))
	}
}
