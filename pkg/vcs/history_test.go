package vcs

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// git runs git in a directory, without the user's configuration.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{
		"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false",
		"-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always",
	}, args...)...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// write writes files, and commits them.
func commit(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message", "a commit")
}

// added returns the lines that all commits that changed PROJECT added to a file, sorted.
func added(t *testing.T, dir, name string) string {
	t.Helper()
	h, err := OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	commits, err := h.Changes(t.Context(), "PROJECT")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, c := range commits {
		lines, err := c.AddedLines(name)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(all, lines)
	}
	delete(all, "")
	return strings.Join(slices.Sorted(maps.Keys(all)), " ")
}

// TestHistory reads repositories as git writes them: loose and packed objects, branches, a work tree, a part of a repository, and a
// shallow clone.
func TestHistory(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("the test requires git")
	}
	dir := t.TempDir()
	if _, err := OpenHistory(dir); !errors.Is(err, errNoHistory) {
		t.Errorf("without a repository: error %v", err)
	}
	git(t, dir, "init", "--quiet")
	if _, err := OpenHistory(dir); !errors.Is(err, errNoHistory) {
		t.Errorf("without commits: error %v", err)
	}
	commit(t, dir, map[string]string{"p/PROJECT": "1\n", "p/api/a.go": "scaffold\n  kept \n"})
	commit(t, dir, map[string]string{"p/api/a.go": "scaffold\nkept\nuser\n"})
	git(t, dir, "checkout", "--quiet", "-b", "feature")
	commit(t, dir, map[string]string{"p/PROJECT": "2\n", "p/api/a.go": "scaffold\nkept\nuser\nmore\r\n", "p/b.go": "b\n"})
	git(t, dir, "checkout", "--quiet", "main")
	commit(t, dir, map[string]string{"README.md": "x\n"})
	git(t, dir, "merge", "--quiet", "--no-edit", "feature")
	commit(t, dir, map[string]string{"p/b.go": "b\nlater\n"})

	project := filepath.Join(dir, "p")
	check := func(what, dir, name, want string) {
		t.Helper()
		if got := added(t, dir, name); got != want {
			t.Errorf("%s: lines of %s: got %q, want %q", what, name, got, want)
		}
	}
	check("loose objects", project, "api/a.go", "kept more scaffold")
	check("loose objects", project, "b.go", "b")
	check("loose objects", project, "none.go", "")
	git(t, dir, "gc", "--quiet")
	check("packed objects", project, "api/a.go", "kept more scaffold")

	tree := filepath.Join(t.TempDir(), "tree")
	git(t, dir, "worktree", "add", "--quiet", tree, "feature")
	check("work tree", filepath.Join(tree, "p"), "api/a.go", "kept more scaffold")

	shallow := filepath.Join(t.TempDir(), "shallow")
	git(t, dir, "clone", "--quiet", "--depth", "1", "file://"+filepath.ToSlash(dir), shallow)
	check("shallow clone", filepath.Join(shallow, "p"), "api/a.go", "")

	shared := filepath.Join(t.TempDir(), "shared")
	git(t, dir, "clone", "--quiet", "--shared", dir, shared)
	if _, err := OpenHistory(shared); !errors.Is(err, errNoHistory) {
		t.Errorf("objects in another repository: error %v", err)
	}
	for _, path := range []string{`\\host\share`, "//host/share"} {
		elsewhere := t.TempDir()
		if err := os.WriteFile(filepath.Join(elsewhere, ".git"), []byte("gitdir: "+path+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenHistory(elsewhere); !errors.Is(err, errNoHistory) {
			t.Errorf("repository on another machine: error %v", err)
		}
	}
}
