package clitest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// CopyTree copies a directory to a new one of the same base name.
func CopyTree(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// WriteFiles writes files by slash-separated path to a directory.
func WriteFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// maxDiffs limits the files whose diffs CompareTrees prints.
const maxDiffs = 10

// CompareTrees checks that two directories have the same files with the same bytes.
func CompareTrees(t testing.TB, want, got string) {
	t.Helper()
	wantFiles, gotFiles := ReadTree(t, want), ReadTree(t, got)
	diffs := 0
	for _, name := range SortedKeys(wantFiles) {
		text, ok := gotFiles[name]
		switch {
		case !ok:
			t.Errorf("%s is missing", name)
		case text != wantFiles[name] && diffs == maxDiffs:
			t.Errorf("%s differs", name)
		case text != wantFiles[name]:
			diffs++
			t.Errorf("%s differs:\n%s", name, DiffLines(wantFiles[name], text))
		}
	}
	for _, name := range SortedKeys(gotFiles) {
		if _, ok := wantFiles[name]; !ok {
			t.Errorf("unexpected file %s", name)
		}
	}
	wantDirs := emptyDirs(t, want)
	for _, name := range emptyDirs(t, got) {
		if !slices.Contains(wantDirs, name) {
			t.Errorf("unexpected empty directory %s", name)
		}
	}
}

// emptyDirs lists the empty directories in dir.
func emptyDirs(t testing.TB, dir string) []string {
	t.Helper()
	var empty []string
	WalkTree(t, dir, func(p string, d fs.DirEntry) {
		if !d.IsDir() {
			return
		}
		entries, err := os.ReadDir(p)
		if err != nil {
			t.Fatal(err)
		}
		if rel, err := filepath.Rel(dir, p); err == nil && rel != "." && len(entries) == 0 {
			empty = append(empty, filepath.ToSlash(rel))
		}
	})
	return empty
}

// Symlink creates a symbolic link, which requires a privilege on Windows.
func Symlink(t *testing.T, target, link string) {
	t.Helper()
	err := os.Symlink(target, link)
	if err != nil && runtime.GOOS == "windows" {
		t.Skipf("Windows requires a privilege for symbolic links: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ReadTree returns the files in a directory tree by slash-separated path.
func ReadTree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	WalkTree(t, dir, func(p string, d fs.DirEntry) {
		if d.IsDir() {
			return
		}
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(rel)] = string(data)
	})
	return files
}

// WalkTree visits a directory and all files and directories in it.
func WalkTree(t testing.TB, dir string, visit func(p string, d fs.DirEntry)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil {
			visit(p, d)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// SortedKeys returns the keys of a map in order.
func SortedKeys(m map[string]string) []string {
	return slices.Sorted(maps.Keys(m))
}

// NewDir writes files to a new directory, which it returns.
func NewDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	WriteFiles(t, dir, files)
	return dir
}
