package worktree

import (
	"strings"
	"testing"

	"github.com/spf13/afero"
)

// TestMove checks the change and the diff of a moved file.
func TestMove(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	for name, text := range map[string]string{"/p/run.sh": "one\ntwo\n", "/p/same.go": "package p\n", "/p/gone.go": "package p\n"} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tree := NewTree(fsys, "/p")
	tree.Move("run.sh", "hack/run.sh", []byte("one\ntwo\n"))
	tree.WriteFile("hack/run.sh", []byte("one\n2\n"), 0o644)
	tree.Move("same.go", "in/same.go", []byte("package p\n"))
	tree.Remove("gone.go")
	tree.WriteFile("new.go", []byte("package p\n"), 0o644)
	changes, err := tree.Changes()
	if err != nil || len(changes) != 6 {
		t.Fatal(changes, err)
	}
	changes = tree.Paired(changes)
	var messages []string
	for _, c := range changes {
		messages = append(messages, c.String())
		if c.Path == "hack/run.sh" && c.Mode != 0o755 {
			t.Errorf("%s has mode %o", c.Path, c.Mode)
		}
	}
	want := "deleted  gone.go\nmoved  run.sh -> hack/run.sh\nmoved  same.go -> in/same.go\ncreated  new.go"
	if got := strings.Join(messages, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if added, removed := Count(changes[1]); added != 1 || removed != 1 {
		t.Errorf("counted +%d -%d", added, removed)
	}
	diff := Diff(changes[1:3])
	want = `diff --git a/run.sh b/hack/run.sh
rename from run.sh
rename to hack/run.sh
--- a/run.sh
+++ b/hack/run.sh
@@ -1,2 +1,2 @@
 one
-two
+2
diff --git a/same.go b/in/same.go
rename from same.go
rename to in/same.go
`
	if diff != want {
		t.Errorf("the diff is\n%s\nnot\n%s", diff, want)
	}
}
