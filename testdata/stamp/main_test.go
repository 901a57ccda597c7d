package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestStamp stamps two clones with the same content, then changes a file, and checks which times are the same.
func TestStamp(t *testing.T) {
	t.Parallel()
	origin := t.TempDir()
	write(t, origin, "a/b/one.txt", "one")
	write(t, origin, "a/b c/two.txt", "two")
	write(t, origin, "three.txt", "three")
	run(t, origin, "init", "--quiet")
	commit(t, origin)
	first, second := clone(t, origin), clone(t, origin)
	before := times(t, first)
	compare(t, "two clones", before, times(t, second))

	write(t, origin, "a/b/one.txt", "eno")
	commit(t, origin)
	compare(t, "after a change of the same size", before, times(t, clone(t, origin)), ".", "a", "a/b", "a/b/one.txt")

	write(t, first, "a/b/one.txt", "eno")
	compare(t, "in a clone that differs from its index", before, times(t, first), ".", "a", "a/b", "a/b/one.txt")
}

// compare compares the times of two clones, which must be the same except for some names.
func compare(t *testing.T, name string, before, after map[string]time.Time, changed ...string) {
	t.Helper()
	for _, file := range changed {
		if before[file].Equal(after[file]) {
			t.Errorf("%s: %s has the same time", name, file)
		}
		after[file] = before[file]
	}
	for file, at := range before {
		if !after[file].Equal(at) {
			t.Errorf("%s: %s has the time %s, and before %s", name, file, after[file], at)
		}
	}
}

// times stamps a clone and returns the times of its files and directories.
func times(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	if _, err := stamp(dir); err != nil {
		t.Fatal(err)
	}
	found := map[string]time.Time{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".git":
			return fs.SkipDir
		}
		info, err := d.Info()
		found[name] = info.ModTime()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func clone(t *testing.T, origin string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	run(t, ".", "clone", "--quiet", origin, dir)
	return dir
}

func commit(t *testing.T, dir string) {
	t.Helper()
	run(t, dir, "add", "--all")
	run(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "a")
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
