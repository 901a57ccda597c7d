package vcs

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// TestMalformedObjects reads commits and trees that git does not write.
func TestMalformedObjects(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("the test requires git")
	}
	dir := t.TempDir()
	git(t, dir, "init", "--quiet")
	git(t, dir, "commit", "--quiet", "--allow-empty", "--message", "a commit")
	store := func(kind, content string) string {
		c := exec.Command("git", "hash-object", "-t", kind, "-w", "--literally", "--stdin")
		c.Dir, c.Stdin = dir, strings.NewReader(content)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	for name, commit := range map[string]string{
		"no hash":          "tree x\n\n",
		"short parent":     "tree " + strings.Repeat("0", 40) + "\nparent 1234\n\n",
		"tree without end": "tree " + store("tree", "100644 PROJECT") + "\n\n",
		"truncated hash":   "tree " + store("tree", "100644 PROJECT\x00short") + "\n\n",
	} {
		h, err := OpenHistory(dir)
		if err != nil {
			t.Fatal(err)
		}
		h.head = plumbing.NewHash(store("commit", commit))
		if _, err := h.Changes(t.Context(), "PROJECT"); !errors.Is(err, errMalformed) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
