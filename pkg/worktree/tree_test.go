package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/spf13/afero"
)

func TestTree(t *testing.T) {
	t.Parallel()
	dir := oldProject(t)
	tree := NewTree(afero.NewOsFs(), dir)
	tree.WriteFile("./api/v1/types.go", []byte("package v1\n"), 0o644)
	tree.WriteFile("cmd/main.go", []byte("package main\n"), 0o644) // as it is
	tree.WriteFile("empty", []byte("x"), 0o644)
	tree.Remove("PROJECT")
	tree.Remove("never/was")
	for name, want := range map[string]bool{
		"api": true, "api/v1": true, "api/v1/types.go": true, "api/v2": false, "cmd": true, "cmd/main.go": true, "PROJECT": false, "never/was": false,
	} {
		if got := tree.Exists(name); got != want {
			t.Errorf("%s exists: %v", name, got)
		}
	}
	data, err := tree.ReadFile("api/v1/../v1/types.go")
	if err != nil || string(data) != "package v1\n" {
		t.Errorf("%q, %v", data, err)
	}
	data[0] = 'X' // the tree's own copy stays
	if data, _ := tree.ReadFile("api/v1/types.go"); data[0] == 'X' {
		t.Error("the tree gave its own memory away")
	}
	for name, want := range map[string]string{
		"PROJECT": "open PROJECT: file does not exist",
		"none/x":  "open none/x: no such file or directory",
		"cmd":     "open cmd: is a directory",
	} {
		if _, err := tree.ReadFile(name); err == nil || err.Error() != want {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := tree.ReadFile("none/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	changes, err := tree.Changes()
	if got := fmt.Sprint(changes); err != nil || got != "[deleted  PROJECT created  api/v1/types.go updated  empty]" {
		t.Errorf("%s, %v", got, err)
	}
	if edits := tree.Edits(); len(edits) != 5 || edits["PROJECT"] != nil || edits["api/v1/types.go"] == nil {
		t.Errorf("Edits() = %q, want 5 files, of which PROJECT is removed", edits)
	}
}

func TestTreeWalk(t *testing.T) {
	t.Parallel()
	dir := oldProject(t)
	put(t, dir, ".operon/txn/0/new/0", "", 0o644)
	put(t, dir, ".operon/notes", "", 0o644)
	tree := NewTree(afero.NewOsFs(), dir)
	tree.WriteFile("hack/new", nil, 0)
	tree.WriteFile("real/skipped/below/x", nil, 0)
	tree.WriteFile("stale/deeper/x", nil, 0)
	tree.Remove("hack/run.sh")
	skip := func(name string) bool {
		if strings.HasPrefix(name, "real/skipped/") {
			t.Errorf("asked whether to skip %s, which is in a skipped directory", name)
		}
		return name == "cmd" || name == "real/skipped"
	}
	for dir, want := range map[string]string{
		".":     ".operon/notes PROJECT alias empty hack/new partly/kept.go partly/stale/deep/zz.go read-only.txt real/linked.yaml stale/deeper/x stale/zz.go untouched",
		"hack":  "hack/new",
		"stale": "stale/deeper/x stale/zz.go",
		"none":  "",
	} {
		got, err := tree.Walk(dir, skip)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v", dir, got, err)
		}
	}
}
