package local

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
)

// pollInterval is the time between two scans of a Watch. A change is returned after a scan without further changes.
const pollInterval = 150 * time.Millisecond

// A Watch detects changes in the content of a project's sources.
type Watch struct {
	root     string
	dir      fs.FileInfo
	isSource func(name string) bool
	files    map[string]fingerprint
}

type fingerprint struct {
	size    int64
	changed time.Time
	sum     [sha256.Size]byte
}

// NewWatch records the current files at root for which isSource returns true. Names are slash-separated and relative to root. Hidden
// directories, directories of built files, and Python virtual environments are never searched.
func NewWatch(root string, isSource func(name string) bool) (*Watch, error) {
	dir, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	w := &Watch{root: root, dir: dir, isSource: isSource}
	w.scan()
	return w, nil
}

// Next waits for a change and returns the files that changed, relative to the root, in order. It fails when the project
// directory was removed or replaced.
func (w *Watch) Next(ctx context.Context) ([]string, error) {
	var changed []string
	err := wait.PollUntilContextCancel(ctx, pollInterval, false, func(context.Context) (bool, error) {
		if err := w.checkRoot(); err != nil {
			return false, err
		}
		more := w.scan()
		changed = append(changed, more...)
		return len(more) == 0 && len(changed) > 0, nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
}

// checkRoot returns an error unless the project directory is still the one that is watched.
func (w *Watch) checkRoot() error {
	switch dir, err := os.Stat(w.root); {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the project directory was removed")
	case err != nil:
		return fmt.Errorf("the project directory cannot be watched: %w", err)
	case !os.SameFile(w.dir, dir):
		return errors.New("the project directory was replaced by another one; run the command again to watch it")
	}
	return nil
}

// scan returns the files that changed since the last scan.
func (w *Watch) scan() (changed []string) {
	found := map[string]fingerprint{}
	// A directory that is removed during the scan is detected as a change.
	_ = filepath.WalkDir(w.root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		name, err := filepath.Rel(w.root, file)
		if err != nil {
			return nil
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if name != "." && (skipDir(d.Name()) || isVirtualEnvironment(file)) {
				return fs.SkipDir
			}
			return nil
		}
		if !w.isSource(name) {
			return nil
		}
		info, err := os.Stat(file)
		if err != nil {
			return nil
		}
		old, exists := w.files[name]
		current := fingerprint{size: info.Size(), changed: info.ModTime(), sum: old.sum}
		if !exists || old.size != current.size || !old.changed.Equal(current.changed) {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil
			}
			current.sum = sha256.Sum256(data)
			if !exists || current.sum != old.sum {
				changed = append(changed, name)
			}
		}
		found[name] = current
		return nil
	})
	for name := range w.files {
		if _, ok := found[name]; !ok {
			changed = append(changed, name)
		}
	}
	w.files = found
	return changed
}

func isVirtualEnvironment(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "pyvenv.cfg"))
	return err == nil
}

func skipDir(name string) bool {
	return strings.HasPrefix(name, ".") || name == "bin" || name == "dist" || name == "node_modules" || name == "testdata"
}

// Sources returns a function that reports whether a file of a project is one of its sources.
func Sources(facts *layout.Facts) func(name string) bool {
	if r := facts.Runtime; r != nil && r.Ansible {
		return IsAnsibleSource
	}
	return IsSource
}

// IsSource reports whether a file of a project is one of its sources: Go files except tests, go.mod, go.sum, charts, watches.yaml and
// config.
func IsSource(name string) bool {
	base := path.Base(name)
	switch {
	case strings.HasPrefix(name, project.ChartsDir+"/"), name == watches.FileName:
		return true
	case strings.HasPrefix(base, "."), strings.HasPrefix(base, "zz_generated."), strings.HasSuffix(base, "_test.go"):
		return false
	case strings.HasPrefix(name, project.ConfigDir+"/"):
		return isYAML(base)
	}
	return name == "go.mod" || name == "go.sum" || strings.HasSuffix(base, ".go")
}

// IsAnsibleSource reports whether a file of an Ansible project is one of its sources: the files of roles and playbooks, wherever they
// are, watches.yaml and config. Tests and bundles are none.
func IsAnsibleSource(name string) bool {
	base := path.Base(name)
	top, _, nested := strings.Cut(name, "/")
	switch {
	case strings.HasPrefix(base, "."), strings.HasSuffix(base, ".retry"), strings.HasSuffix(base, ".md"), strings.HasSuffix(base, ".pyc"):
		return false
	case nested && (top == "roles" || top == "playbooks"):
		return true
	case nested && (top == "molecule" || top == "bundle" || strings.HasPrefix(name, project.ConfigDir+"/testing/")):
		return false
	}
	return isYAML(base) || strings.HasSuffix(base, ".j2") || strings.HasSuffix(base, ".py")
}

func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".json")
}
