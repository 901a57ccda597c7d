package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "project")
	outside := filepath.Join(filepath.Dir(dir), "outside")
	put(t, outside, "secret", "theirs", 0o644)
	put(t, dir, "real/deep/file", "mine", 0o644)
	put(t, dir, "file", "mine", 0o644)
	for link, target := range map[string]string{
		"inside":        "real",
		"twice":         "inside/deep",
		"real/up":       "../file",
		"absolute":      filepath.Join(dir, "real"),
		"dangling":      "real/none",
		"out":           "../outside",
		"absout":        outside,
		"sly":           "inside/../../outside",
		"outfile":       "../outside/secret",
		"dangling-out":  "../nowhere",
		"loop":          "pool",
		"pool":          "loop",
		"self":          ".",
		"real/deep/top": "../..",
		"hooks":         ".git/hooks",
	} {
		symlink(t, target, filepath.Join(dir, link))
	}
	d := disk{fs: afero.NewOsFs(), root: dir}
	for name, want := range map[string]string{
		"file":               "file",
		"new/file":           "new/file",
		"inside/deep/file":   "real/deep/file",
		"inside/new":         "real/new",
		"twice/file":         "real/deep/file",
		"real/up":            "file",
		"absolute/deep/file": "real/deep/file",
		"dangling":           "real/none",
		"real/deep/top/file": "file",
	} {
		if got, err := d.resolve(name); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for name, link := range map[string]string{
		"out/x": "out", "absout/x": "absout", "sly/x": "sly", "outfile": "outfile", "dangling-out": "dangling-out", "inside/../out/secret": "",
	} {
		_, err := d.resolve(name)
		oe, ok := errors.AsType[*OutsideError](err)
		if link != "" && (!ok || oe.Link != link || !strings.Contains(err.Error(), "symbolic link out of")) || err == nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"loop":             "too many symbolic links",
		"self":             "the project's directory",
		"real":             "real is a directory, but a file must",
		"file/x":           "file is a file, but file/x requires a directory",
		"real/up/x":        "file is a file",
		"..":               "not the name of a file",
		"../x":             "not the name of a file",
		"/etc/passwd":      "not the name of a file",
		".":                "not the name of a file",
		".git/hooks/x":     `".git/hooks/x" is in a directory of version control`,
		"real/.Git/x":      `"real/.Git/x" is in a directory of version control`,
		".git":             "directory of version control",
		"hooks/x":          `"hooks/x" is in ".git" through a symbolic link, a directory of version control`,
		".operon/txn":      "reserved",
		".operon/txn/x/y":  "reserved",
		".operon/txn/new/": "not the name of a file",
	} {
		if _, err := d.resolve(name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Nothing is written if one of the targets is outside, and each link and directory that prevents it is reported once.
func TestCommitStaysInside(t *testing.T) {
	t.Parallel()
	dir := oldProject(t)
	outside := t.TempDir()
	symlink(t, outside, filepath.Join(dir, "api"))
	if err := os.Remove(filepath.Join(dir, "empty")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := photo(t, dir)
	_, err := update(afero.NewOsFs(), dir, newProject)
	for _, want := range []string{"would be written outside of the project, because api is", "empty is a directory"} {
		if err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("error %v does not contain once: %s", err, want)
		}
	}
	if photo(t, dir) != before || strings.Contains(photo(t, outside), "types.go") {
		t.Error("something was written")
	}
	// Two names for one file, and the deletion of a link.
	for want, change := range map[string]func(*Tree){
		"are the same file": func(tree *Tree) {
			tree.WriteFile("alias/linked.yaml", []byte("x"), 0)
			tree.WriteFile("real/linked.yaml", []byte("y"), 0)
		},
		"reached through a symbolic link": func(tree *Tree) { tree.Remove("alias/linked.yaml") },
	} {
		_, err := update(afero.NewOsFs(), dir, func(tree *Tree) error { change(tree); return nil })
		if err == nil || !strings.Contains(err.Error(), want) || photo(t, dir) != before {
			t.Errorf("%s: error %v", want, err)
		}
	}
}

// A link that appears after the checks of a commit cannot take a write out of the project.
func TestRootRefusesLinks(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	put(t, outside, "file", "theirs", 0o644)
	symlink(t, outside, filepath.Join(dir, "out"))
	d, closeRoot, err := openRoot(at(afero.NewOsFs(), dir).disk())
	if err != nil {
		t.Fatal(err)
	}
	defer closeRoot()
	put(t, dir, "mine", "mine", 0o644)
	before := photo(t, outside)
	for operation, err := range map[string]error{
		"create": create(d.fs, d.abs("out/new"), []byte("x"), FileMode),
		"mkdir":  d.mkdir("out/dir"),
		"rename": d.rename("mine", "out/file"),
		"remove": d.removeFile("out/file"),
		"parent": create(d.fs, d.abs("../new"), []byte("x"), FileMode),
	} {
		if err == nil || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: got error %v, want one without the path of the project", operation, err)
		}
	}
	if photo(t, outside) != before {
		t.Error("the directory outside of the project changed")
	}
}
