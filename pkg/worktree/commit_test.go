package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
)

func TestCommitAppliesAll(t *testing.T) {
	t.Parallel()
	dir := oldProject(t)
	u := mustUpdate(t, dir, newProject)
	var actions []string
	for _, c := range u.Changes {
		actions = append(actions, c.String())
	}
	want := []string{
		"updated  PROJECT", "updated  alias/linked.yaml", "created  api/v1alpha1/empty.go", "created  api/v1alpha1/types.go",
		"created  bin/tool", "updated  cmd/main.go", "updated  empty", "updated  hack/run.sh", "deleted  partly/stale/deep/zz.go",
		"updated  read-only.txt", "deleted  stale/zz.go",
	}
	if !slices.Equal(actions, want) {
		t.Errorf("changes:\n%s", strings.Join(actions, "\n"))
	}
	got := photo(t, dir)
	for _, line := range []string{
		"PROJECT -rw-r--r-- \"version: new\\n\"",
		"alias -> real",
		"api drwxr-xr-x",
		"api/v1alpha1 drwxr-xr-x",
		"api/v1alpha1/empty.go -rw-r--r-- \"\"",
		"bin/tool -rwxr-xr-x",
		"cmd/main.go -rw-r--r-- \"package main\\n\\nfunc main() {}\\n\"",
		"hack/run.sh -rwxr-xr-x",
		"read-only.txt -r--r--r-- \"new\\n\"",
		"real/linked.yaml -rw-r--r-- \"a: 2\\r\\n\"",
		"untouched -rw-r----- \"mine\\r\\n\"",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("missing %s in\n%s", line, got)
		}
	}
	if strings.Contains(got, ".operon") || strings.Contains(got, "stale") || !strings.Contains(got, "partly/kept.go") {
		t.Errorf("left over:\n%s", got)
	}
	if again := mustUpdate(t, dir, newProject); len(again.Changes) != 0 {
		t.Errorf("the same again changes %v", again.Changes)
	}
}

func TestCommitInMemory(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	for name, data := range map[string]string{"/p/PROJECT": "old", "/p/a/gone": "x"} {
		if err := afero.WriteFile(fsys, name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Update(context.Background(), fsys, "/p", LockOptions{Command: "test"}, func(tree *Tree) error {
		tree.WriteFile("PROJECT", []byte("new"), 0o644)
		tree.WriteFile("b/c/d", []byte("d"), 0o644)
		tree.Remove("a/gone")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	_ = afero.Walk(fsys, "/p", func(p string, info fs.FileInfo, _ error) error {
		names = append(names, filepath.ToSlash(p))
		return nil
	})
	if got := strings.Join(names, " "); got != "/p /p/PROJECT /p/b /p/b/c /p/b/c/d" {
		t.Error(got)
	}
}

// Each change fails once: either the command fails and leaves nothing, or it has completed.
func TestCommitFailsCompletely(t *testing.T) {
	t.Parallel()
	want := newPhoto(t)
	for _, cause := range []error{syscall.ENOSPC, syscall.EACCES} {
		committed := false
		for n := 1; ; n++ {
			dir := oldProject(t)
			before := photo(t, dir)
			fsys := &faultFs{failAt: n, err: cause}
			_, err := update(fsys, dir, newProject)
			if fsys.count < n {
				if !committed || n < 50 {
					t.Errorf("only %d mutations, committed %v", n, committed)
				}
				break
			}
			if err == nil {
				mustUpdate(t, dir, nothing)
				// A directory that cannot be pruned stays.
				if got := photo(t, dir); sources(got) != sources(want) {
					t.Fatalf("%v at %d gave no error and\n%s", cause, n, got)
				}
				committed = true
				continue
			}
			if got := photo(t, dir); got != before {
				t.Fatalf("%v at %d left\n%s\nwant\n%s", cause, n, got, before)
			}
			if !errors.Is(err, cause) || strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "run the command again") {
				t.Fatalf("%v at %d: message %q", cause, n, err)
			}
		}
	}
}

// Each change is the last one of a process: recovery restores the old tree or completes the new one.
func TestCommitKilled(t *testing.T) {
	t.Parallel()
	want := newPhoto(t)
	committed, recovered := false, 0
	for n := 1; ; n++ {
		dir := oldProject(t)
		before := photo(t, dir)
		fsys := &faultFs{failAt: n, forever: true, err: syscall.EIO}
		_, _ = update(fsys, dir, newProject)
		if fsys.count < n {
			break
		}
		left := sources(photo(t, dir))
		if err := Unfinished(afero.NewOsFs(), dir); err == nil && left != sources(before) && left != sources(want) {
			t.Fatalf("killed at %d, nothing reports that the tree is mixed:\n%s", n, left)
		}
		u := mustUpdate(t, dir, nothing)
		if u.Recovered != nil {
			recovered++
			if u.Recovered.Command != "operon create api" || len(u.Recovered.Kept) > 0 {
				t.Errorf("at %d: recovered %+v", n, u.Recovered)
			}
		}
		switch got := photo(t, dir); {
		case got == want && (committed || n > 40):
			committed = true
		case got != before || committed:
			t.Fatalf("killed at %d, recovery gave\n%s\nwant\n%s", n, got, before)
		}
		mustUpdate(t, dir, newProject)
		if got := photo(t, dir); got != want {
			t.Fatalf("killed at %d, the command run again gave\n%s\nwant\n%s", n, got, want)
		}
	}
	if !committed || recovered < 10 {
		t.Errorf("committed %v, recovered %d times", committed, recovered)
	}
}

// Recovery is killed at each of its own mutations, after a crash at each mutation of the commit.
func TestRecoverKilled(t *testing.T) {
	t.Parallel()
	want := newPhoto(t)
	// Adjacent crashes of the commit have similar results; all crashes of the recovery are tested.
	runs, stride := 0, 4
	for n := 1; ; n += stride {
		dir := oldProject(t)
		fsys := &faultFs{failAt: n, forever: true, err: syscall.EIO}
		_, _ = update(fsys, dir, newProject)
		if fsys.count < n {
			break
		}
		if Unfinished(afero.NewOsFs(), dir) == nil {
			continue // TestCommitKilled sees to those
		}
		before := photo(t, oldProject(t))
		for m := 1; ; m++ {
			runs++
			again := oldProject(t)
			_, _ = update(&faultFs{failAt: n, forever: true, err: syscall.EIO}, again, newProject)
			killed := &faultFs{failAt: m, forever: true, err: syscall.EIO}
			_, _ = update(killed, again, nothing)
			if killed.count < m {
				break
			}
			mustUpdate(t, again, nothing)
			if got := photo(t, again); got != before {
				t.Fatalf("commit killed at %d, recovery at %d:\n%s\nwant\n%s", n, m, got, before)
			}
			if m%4 != 0 {
				continue
			}
			mustUpdate(t, again, newProject)
			if got := photo(t, again); got != want {
				t.Fatalf("commit killed at %d, recovery at %d, then again:\n%s\nwant\n%s", n, m, got, want)
			}
		}
	}
	if runs < 100/stride {
		t.Errorf("only %d runs", runs)
	}
}

// interrupted returns a project in the middle of a commit: half of the files are new.
func interrupted(t *testing.T) string {
	t.Helper()
	for n := 60; ; n++ { // there is no journal before
		dir := oldProject(t)
		fsys := &faultFs{failAt: n, forever: true, err: syscall.EIO}
		_, _ = update(fsys, dir, newProject)
		if fsys.count < n {
			t.Fatal("never interrupted")
		}
		if data, _ := os.ReadFile(filepath.Join(dir, "hack/run.sh")); len(data) > 10 {
			// Every command removes the lock file at its end, also one that fails.
			if err := os.Remove(filepath.Join(dir, lockFile)); err != nil {
				t.Fatal(err)
			}
			return dir
		}
	}
}

func TestRecoverKeepsEdits(t *testing.T) {
	t.Parallel()
	dir := interrupted(t)
	put(t, dir, "cmd/main.go", "package main // edited after the crash\n", 0o644)
	put(t, dir, "api/v1alpha1/types.go", "package v1alpha1 // edited after the crash\n", 0o644)
	u := mustUpdate(t, dir, nothing)
	if got := strings.Join(u.Recovered.Kept, " "); got != "api/v1alpha1/types.go cmd/main.go" {
		t.Errorf("kept %q", got)
	}
	got := photo(t, dir)
	for _, line := range []string{"package main // edited", "package v1alpha1 // edited", "run.sh -rwxr-xr-x \"#!/bin/sh\\n\"\n"} {
		if !strings.Contains(got, line) {
			t.Errorf("missing %s in\n%s", line, got)
		}
	}
	if strings.Contains(got, ".operon") {
		t.Errorf("left over:\n%s", got)
	}
}

func TestRecoverRefusesBrokenJournals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   string
	}{
		"empty": {func(t *testing.T, dir string) { put(t, dir, journalFile, "", 0o644) }, "cannot be read"},
		"foreign": {func(t *testing.T, dir string) {
			put(t, dir, journalFile, `{"version":1,"who":"me","operations":[]}`, 0o644)
		}, "unknown field"},
		"newer": {func(t *testing.T, dir string) { put(t, dir, journalFile, `{"version":7}`, 0o644) }, "version 7"},
		"outside": {func(t *testing.T, dir string) {
			put(t, dir, journalFile, `{"version":1,"operations":[{"path":"../x","new":"`+digest(nil)+`"}]}`, 0o644)
		}, "is not valid"},
		"folder": {func(t *testing.T, dir string) {
			put(t, dir, journalFile, `{"version":1,"operations":[],"folders":["cmd"]}`, 0o644)
		}, "is not valid"},
		"saved file removed": {func(t *testing.T, dir string) {
			entries, _ := os.ReadDir(filepath.Join(dir, savedDir))
			for _, e := range entries {
				if err := os.Remove(filepath.Join(dir, savedDir, e.Name())); err != nil {
					t.Fatal(err)
				}
			}
		}, "missing or damaged"},
		"link on the way": {func(t *testing.T, dir string) {
			if err := os.Rename(filepath.Join(dir, "hack"), filepath.Join(dir, "outside")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("outside", filepath.Join(dir, "hack")); err != nil {
				t.Fatal(err)
			}
		}, "reached through a symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := interrupted(t)
			c.damage(t, dir)
			before := photo(t, dir)
			_, err := update(afero.NewOsFs(), dir, newProject)
			if je, ok := errors.AsType[*JournalError](err); !ok || !strings.Contains(je.Error(), c.want) {
				t.Errorf("error %v", err)
			}
			if got := photo(t, dir); got != before {
				t.Errorf("changed to\n%s\nfrom\n%s", got, before)
			}
		})
	}
}

func TestUnfinished(t *testing.T) {
	t.Parallel()
	dir := interrupted(t)
	before := photo(t, dir)
	err := Unfinished(afero.NewOsFs(), dir)
	if ue, ok := errors.AsType[*UnfinishedError](err); !ok || ue.Command != "operon create api" {
		t.Errorf("error %v", err)
	}
	lock, err := Lock(context.Background(), afero.NewOsFs(), dir, LockOptions{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	tree := NewTree(afero.NewOsFs(), dir)
	tree.WriteFile("x", []byte("x"), 0o644)
	if _, err := Commit(tree, lock); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("commit over a journal: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if got := photo(t, dir); got != before {
		t.Errorf("changed to\n%s", got)
	}
	if err := Unfinished(afero.NewOsFs(), t.TempDir()); err != nil {
		t.Error(err)
	}
}

func TestSweepLeavesForeignFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, ".operon/txn/new/3", "stale", 0o600)
	put(t, dir, ".operon/txn/new/notes.txt", "mine", 0o644)
	put(t, dir, ".operon/txn/journal.tmp", "{", 0o644)
	put(t, dir, ".operon/keep", "mine", 0o644)
	mustUpdate(t, dir, nothing)
	got := photo(t, dir)
	if !strings.Contains(got, "notes.txt") || !strings.Contains(got, ".operon/keep") ||
		strings.Contains(got, "new/3") || strings.Contains(got, "journal") || strings.Contains(got, "lock") {
		t.Error(got)
	}
}

func TestCommitRefusesChangedFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		look, meanwhile func(t *testing.T, tree *Tree, dir string)
		path            string
	}{
		"edited after reading": {
			func(t *testing.T, tree *Tree, dir string) { _, _ = tree.ReadFile("cmd/main.go") },
			func(t *testing.T, tree *Tree, dir string) { put(t, dir, "cmd/main.go", "package mine\n", 0o644) },
			"cmd/main.go",
		},
		"created after looking": {
			func(t *testing.T, tree *Tree, dir string) { tree.Exists("cmd/new.go") },
			func(t *testing.T, tree *Tree, dir string) { put(t, dir, "cmd/new.go", "package mine\n", 0o644) },
			"cmd/new.go",
		},
		"removed after reading": {
			func(t *testing.T, tree *Tree, dir string) { _, _ = tree.ReadFile("cmd/main.go") },
			func(t *testing.T, tree *Tree, dir string) { _ = os.Remove(filepath.Join(dir, "cmd/main.go")) },
			"cmd/main.go",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := oldProject(t)
			var before string
			_, err := update(afero.NewOsFs(), dir, func(tree *Tree) error {
				c.look(t, tree, dir)
				tree.WriteFile("other", []byte("x"), 0o644)
				tree.WriteFile(c.path, []byte("package main // new\n"), 0o644)
				c.meanwhile(t, tree, dir)
				before = photo(t, filepath.Join(dir, "cmd"))
				return nil
			})
			if ce, ok := errors.AsType[*ChangedError](err); !ok || !slices.Equal(ce.Paths, []string{c.path}) {
				t.Errorf("error %v", err)
			}
			if got := photo(t, filepath.Join(dir, "cmd")); got != before || strings.Contains(photo(t, dir), "other") {
				t.Errorf("changed to\n%s", got)
			}
		})
	}
}

func TestUpdateReturnsTheErrorOfChange(t *testing.T) {
	t.Parallel()
	dir := oldProject(t)
	before := photo(t, dir)
	mine := errors.New("mine")
	_, err := update(afero.NewOsFs(), dir, func(tree *Tree) error {
		tree.WriteFile("x", []byte("x"), 0o644)
		return mine
	})
	if !errors.Is(err, mine) || photo(t, dir) != before {
		t.Errorf("error %v, tree\n%s", err, photo(t, dir))
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = Update(ctx, afero.NewOsFs(), dir, LockOptions{Command: "test"}, func(tree *Tree) error {
		tree.WriteFile("x", []byte("x"), 0o644)
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || photo(t, dir) != before {
		t.Errorf("error %v, tree\n%s", err, photo(t, dir))
	}
}

func TestCommitNeedsTheLock(t *testing.T) {
	t.Parallel()
	dir := oldProject(t)
	tree := NewTree(afero.NewOsFs(), dir)
	tree.WriteFile("x", []byte("x"), 0o644)
	lock, err := Lock(context.Background(), afero.NewOsFs(), dir, LockOptions{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*ProjectLock{nil, lock} {
		if _, err := Commit(tree, l); err == nil {
			t.Error("committed without a lock")
		}
	}
}
