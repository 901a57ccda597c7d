package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// failedFile in the directory of a custom resource describes its last failed run. The artifacts of that run outlive the operator, so that
// the cause of a failure can be found after the container has restarted.
const failedFile = ".failed"

// A FailedRun is the last run of a custom resource that failed.
type FailedRun struct {
	// Ident is the name of the directory with the artifacts.
	Ident     string `json:"ident"`
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// GroupVersionKind returns the kind of the custom resource.
func (f FailedRun) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: f.Group, Version: f.Version, Kind: f.Kind}
}

// Key returns the name of the custom resource.
func (f FailedRun) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: f.Namespace, Name: f.Name}
}

// recordFailed makes a run the last failed one of its custom resource.
func recordFailed(dir, ident string, request Request) error {
	artifacts := artifactsOf(dir, ident)
	if !isDir(artifacts) {
		return nil // ansible-runner did not start
	}
	gvk, key := request.GVK, request.Key
	data, err := json.Marshal(FailedRun{ident, gvk.Group, gvk.Version, gvk.Kind, key.Namespace, key.Name})
	if err != nil {
		return err
	}
	return errors.Join(removeEnviron(filepath.Join(artifacts, "command")), redactFiles(artifacts, request), writeFile(dir, failedFile, data))
}

// redactFiles removes secrets from the files in a directory. Lines are independent of each other in all of them.
func redactFiles(dir string, request Request) error {
	if request.Redact == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		return redactFile(path, request)
	})
}

func redactFile(path string, request Request) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	redacted, err := os.OpenFile(path+".redacted", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	changed := false
	writer := bufio.NewWriter(redacted)
	for reader := bufio.NewReader(file); err == nil; {
		var line string
		line, err = reader.ReadString('\n')
		text := request.redact(line)
		changed = changed || text != line
		_, _ = writer.WriteString(text) // Flush returns the error
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	err = errors.Join(err, writer.Flush(), redacted.Close())
	if err == nil && changed {
		return os.Rename(redacted.Name(), path)
	}
	return errors.Join(err, os.Remove(redacted.Name()))
}

// removeEnviron removes the environment, which can contain secrets of the operator, from the file in which ansible-runner writes the
// command of a run.
func removeEnviron(file string) error {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var command map[string]any
	if err != nil || json.Unmarshal(data, &command) != nil {
		return errors.Join(err, os.Remove(file))
	}
	delete(command, "env")
	if data, err = json.Marshal(command); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

// readFailed returns the last failed run in the directory of a custom resource, if its artifacts exist.
func readFailed(dir string) (failed FailedRun, ok bool) {
	data, err := os.ReadFile(filepath.Join(dir, failedFile))
	if err != nil || json.Unmarshal(data, &failed) != nil || failed.Ident == "" || failed.Ident != filepath.Base(failed.Ident) {
		return FailedRun{}, false
	}
	return failed, isDir(artifactsOf(dir, failed.Ident))
}

// removable returns what the directory of a custom resource contains besides its last failed run, or the directory itself if it has none.
func removable(dir string) []string {
	failed, ok := readFailed(dir)
	if !ok {
		return []string{dir}
	}
	var paths []string
	for parent, keep := range map[string]string{dir: failedFile, filepath.Join(dir, artifactsDir): failed.Ident} {
		entries, _ := os.ReadDir(parent)
		for _, entry := range entries {
			if name := entry.Name(); name != keep && (parent != dir || name != artifactsDir) {
				paths = append(paths, filepath.Join(parent, name))
			}
		}
	}
	// Without the marker, nothing else would be found again.
	slices.SortFunc(paths, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(b, markerFile), strings.TrimSuffix(a, markerFile))
	})
	return paths
}

// clear removes the directory of a custom resource except for its last failed run.
func (r *root) clear(dir string) error {
	var errs []error
	for _, path := range removable(dir) {
		if path == dir {
			return r.remove(dir)
		}
		errs = append(errs, os.RemoveAll(path))
	}
	return errors.Join(errs...)
}

// failedRuns returns the last failed runs below a root that no operator uses, oldest first, and their artifacts.
func (r *root) failedRuns() (runs []FailedRun, artifacts []string) {
	type found struct {
		run  FailedRun
		path string
		time int64
	}
	var all []found
	_ = filepath.WalkDir(r.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil
		}
		if strings.HasPrefix(entry.Name(), ".") && path != r.dir {
			return fs.SkipDir
		}
		info, err := os.Stat(filepath.Join(path, failedFile))
		if err != nil {
			return nil
		}
		if failed, ok := readFailed(path); !ok {
			_ = r.clear(path)
		} else if !r.isForeign(path) {
			all = append(all, found{failed, artifactsOf(path, failed.Ident), info.ModTime().UnixNano()})
		}
		return fs.SkipDir
	})
	slices.SortFunc(all, func(a, b found) int { return int(min(max(a.time-b.time, -1), 1)) })
	for _, f := range all {
		runs, artifacts = append(runs, f.run), append(artifacts, f.path)
	}
	return runs, artifacts
}

// FailedRuns returns the last failed runs of former operators in the same directory, which the caller removes with Remove if their
// custom resources no longer exist.
func (r *Runner) FailedRuns() []FailedRun {
	runs, _ := r.root.failedRuns()
	return runs
}
