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
	_, err := Update(context.Background(), at(fsys, "/p"), LockOptions{Command: "test"}, func(tree *Tree) error {
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
			if !errors.Is(err, cause) || strings.Contains(err.Error(), dir+"/") || !strings.Contains(err.Error(), "run the command again") {
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
		if err := Unfinished(at(afero.NewOsFs(), dir)); err == nil && left != sources(before) && left != sources(want) {
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
		if Unfinished(at(afero.NewOsFs(), dir)) == nil {
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
			if err := os.Remove(filepath.Join(stateOf(t, dir), lockFile)); err != nil {
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
		"empty": {func(t *testing.T, dir string) { put(t, stateOf(t, dir), journalFile, "", 0o644) }, "cannot be read"},
		"foreign": {func(t *testing.T, dir string) {
			put(t, stateOf(t, dir), journalFile, `{"version":2,"who":"me","operations":[]}`, 0o644)
		}, "unknown field"},
		"newer": {func(t *testing.T, dir string) { put(t, stateOf(t, dir), journalFile, `{"version":7}`, 0o644) }, "version 7"},
		"no ID": {func(t *testing.T, dir string) { put(t, stateOf(t, dir), journalFile, `{"version":2}`, 0o644) }, "not valid"},
		"ID outside": {func(t *testing.T, dir string) {
			put(t, stateOf(t, dir), journalFile, `{"version":2,"id":"../.."}`, 0o644)
		}, "not valid"},
		"outside": {changed(`{"path":"../x","new":"`+digest(nil)+`"}`, ""), "is not valid"},
		"loop":    {changed(`{"path":"/a","new":"`+digest(nil)+`"}`, ""), "is not valid"},
		"folder":  {changed("", `"cmd"`), "is not valid"},
		"saved file removed": {func(t *testing.T, dir string) {
			saved, err := filepath.Glob(filepath.Join(dir, txnDir, "*", "old", "*"))
			if err != nil || len(saved) == 0 {
				t.Fatal(err, "no saved files")
			}
			for _, name := range saved {
				if err := os.Remove(name); err != nil {
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

// changed returns a function that replaces the operations and the directories of a journal.
func changed(operations, dirs string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		id := strings.Repeat("0", 32)
		put(t, stateOf(t, dir), journalFile, `{"version":2,"id":"`+id+`","operations":[`+operations+`],"folders":[`+dirs+`]}`, 0o644)
	}
}

// TestJournalOfClone expects records below the root to be without effect, as they can have come with a clone: the journal of the first
// format, which was there, and the directory of a transaction.
func TestJournalOfClone(t *testing.T) {
	t.Parallel()
	dir := oldProject(t)
	old := "#!/bin/sh\n"
	operation := `{"path":".git/hooks/post-commit","old":"` + digest([]byte(old)) + `","new":"` + strings.Repeat("a", 64) + `"}`
	for name, data := range map[string]string{
		".operon/txn/old/0":        old,
		".operon/txn/journal.json": `{"version":1,"command":"operon generate","operations":[` + operation + `]}`,
		".operon/journal.json":     `{"version":2,"id":"` + strings.Repeat("0", 32) + `","operations":[` + operation + `]}`,
		".operon/done.json":        `{"version":1,"command":"operon generate","operations":[{"path":"/a","old":"` + digest(nil) + `"}]}`,
		".operon/lock":             "\x00{}",
	} {
		put(t, dir, name, data, 0o755)
	}
	before := photo(t, dir)
	if err := Unfinished(at(afero.NewOsFs(), dir)); err != nil {
		t.Error(err)
	}
	if u := mustUpdate(t, dir, nothing); u.Recovered != nil {
		t.Errorf("recovered %+v", u.Recovered)
	}
	if got := photo(t, dir); got != before {
		t.Errorf("changed to\n%s\nfrom\n%s", got, before)
	}
	mustUpdate(t, dir, newProject)
}

// TestRecoverReplacedProject expects the journal of a project that was deleted to be ignored if another one has its identity.
func TestRecoverReplacedProject(t *testing.T) {
	t.Parallel()
	dir := interrupted(t)
	if err := os.RemoveAll(filepath.Join(dir, operonDir)); err != nil {
		t.Fatal(err)
	}
	before := photo(t, dir)
	if err := Unfinished(at(afero.NewOsFs(), dir)); err != nil {
		t.Error(err)
	}
	if u := mustUpdate(t, dir, nothing); u.Recovered != nil {
		t.Errorf("recovered %+v", u.Recovered)
	}
	if got := photo(t, dir); got != before {
		t.Errorf("changed to\n%s\nfrom\n%s", got, before)
	}
	if entries, err := os.ReadDir(dir + "-state/"); err != nil || len(entries) > 0 {
		t.Errorf("%v remain, %v", entries, err)
	}
}

// TestRecoverMovedProject expects a project that was moved after an interruption to be recovered.
func TestRecoverMovedProject(t *testing.T) {
	t.Parallel()
	dir := interrupted(t)
	moved := Location{FS: afero.NewOsFs(), Root: dir + "-moved", StateDirs: at(nil, dir).StateDirs}
	if err := os.Rename(dir, moved.Root); err != nil {
		t.Fatal(err)
	}
	u, err := Update(t.Context(), moved, LockOptions{}, nothing)
	if err != nil || u.Recovered == nil || len(u.Recovered.Restored) == 0 {
		t.Errorf("%+v, %v", u, err)
	}
}

// TestLinkedStaging expects staged files to be refused a directory that a link in a clone points to.
func TestLinkedStaging(t *testing.T) {
	t.Parallel()
	for _, link := range []string{".operon", ".operon/txn"} {
		dir := oldProject(t)
		put(t, dir, ".git/hooks/sample", "", 0o644)
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o755); err != nil {
			t.Fatal(err)
		}
		symlink(t, filepath.Join(dir, ".git", "hooks"), filepath.Join(dir, link))
		before := photo(t, dir)
		if _, err := update(afero.NewOsFs(), dir, newProject); err == nil || !strings.Contains(err.Error(), link+" must be a directory") {
			t.Errorf("%s: error %v", link, err)
		}
		if got := photo(t, dir); got != before {
			t.Errorf("%s: changed to\n%s\nfrom\n%s", link, got, before)
		}
	}
}

func TestUnfinished(t *testing.T) {
	t.Parallel()
	dir := interrupted(t)
	before := photo(t, dir)
	err := Unfinished(at(afero.NewOsFs(), dir))
	if ue, ok := errors.AsType[*UnfinishedError](err); !ok || ue.Command != "operon create api" {
		t.Errorf("error %v", err)
	}
	lock, err := Lock(context.Background(), at(afero.NewOsFs(), dir), LockOptions{Command: "test"})
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
	if err := Unfinished(at(afero.NewOsFs(), t.TempDir())); err != nil {
		t.Error(err)
	}
}

// TestSweepLeavesForeignFiles expects other files below .operon to be kept, also in the directory of the transaction.
func TestSweepLeavesForeignFiles(t *testing.T) {
	t.Parallel()
	dir := interrupted(t)
	created, err := filepath.Glob(filepath.Join(dir, txnDir, "*", "new"))
	if err != nil || len(created) != 1 {
		t.Fatal(created, err)
	}
	put(t, created[0], "notes.txt", "mine", 0o644)
	put(t, dir, ".operon/txn/other/new/3", "of another user", 0o600)
	put(t, dir, ".operon/keep", "mine", 0o644)
	mustUpdate(t, dir, nothing)
	got := photo(t, dir)
	if !strings.Contains(got, "notes.txt") || !strings.Contains(got, ".operon/keep") || !strings.Contains(got, "of another user") ||
		strings.Contains(got, "/old") {
		t.Error(got)
	}
}

// TestCommitKeepsEdits saves a file before each change of a commit, as an editor does. The edit is never lost, except between the check
// right before the rename and the rename.
func TestCommitKeepsEdits(t *testing.T) {
	t.Parallel()
	const edit = "package main // saved by an editor\n"
	lost, refused := 0, 0
	for n := 1; ; n++ {
		dir := oldProject(t)
		fsys := &faultFs{failAt: n, edit: func() { put(t, dir, "cmd/main.go", edit, 0o644) }}
		read := 0 // changes before the command has read the file
		u, err := update(fsys, dir, func(tree *Tree) error {
			read = fsys.count
			return newProject(tree)
		})
		if fsys.count < n {
			break
		}
		if n <= read {
			continue
		}
		data, readErr := os.ReadFile(filepath.Join(dir, "cmd", "main.go"))
		if readErr != nil {
			t.Fatal(readErr)
		}
		if string(data) != edit {
			lost++
		}
		if _, ok := errors.AsType[*ChangedError](err); ok {
			refused++
			put(t, dir, "cmd/main.go", "package main\n", 0o644)
			if got, want := photo(t, dir), photo(t, oldProject(t)); got != want {
				t.Fatalf("edited at %d:\n%s\nwant\n%s", n, got, want)
			}
		} else if err != nil || len(u.Changes) == 0 {
			t.Fatalf("edited at %d: %v", n, err)
		}
	}
	if lost > 1 || refused < 20 {
		t.Errorf("%d edits were lost, %d commits were refused", lost, refused)
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
	_, err = Update(ctx, at(afero.NewOsFs(), dir), LockOptions{Command: "test"}, func(tree *Tree) error {
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
	lock, err := Lock(context.Background(), at(afero.NewOsFs(), dir), LockOptions{Command: "test"})
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
