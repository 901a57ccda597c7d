package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	var numbers strings.Builder
	for i := range 30 {
		fmt.Fprintf(&numbers, "line %d\n", i)
	}
	old := numbers.String()
	got := Diff([]Change{
		{Path: "a/changed.txt", Old: []byte(old), New: []byte(strings.NewReplacer("line 3\n", "line three\n", "line 20\n", "line 20\nmore\n").Replace(old))},
		{Path: "bin", Old: []byte("\x00"), New: []byte("\x01\xff")},
		{Path: "empty", New: []byte{}},
		{Path: "gone", Old: []byte("a\nb")},
		{Path: "new file", New: []byte("a\n"), Mode: 0o755},
		{Path: "noeol", Old: []byte("a\nb"), New: []byte("a\nb\n")},
	})
	want := `diff --git a/a/changed.txt b/a/changed.txt
--- a/a/changed.txt
+++ b/a/changed.txt
@@ -1,7 +1,7 @@
 line 0
 line 1
 line 2
-line 3
+line three
 line 4
 line 5
 line 6
@@ -19,6 +19,7 @@
 line 18
 line 19
 line 20
+more
 line 21
 line 22
 line 23
diff --git a/bin b/bin
Binary files a/bin and b/bin differ
diff --git a/empty b/empty
new file mode 100644
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1,2 +0,0 @@
-a
-b
\ No newline at end of file
diff --git a/new file b/new file
new file mode 100755
--- /dev/null
+++ b/new file` + "\t" + `
@@ -0,0 +1 @@
+a
diff --git a/noeol b/noeol
--- a/noeol
+++ b/noeol
@@ -1,2 +1,2 @@
 a
-b
\ No newline at end of file
+b
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if Diff(nil) != "" {
		t.Error("no changes, but a diff")
	}
}

// git makes the same tree of the old one and a diff that Commit makes of it.
func TestDiffApplies(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := oldProject(t)
	if err := os.Remove(filepath.Join(dir, "alias")); err != nil {
		t.Fatal(err)
	}
	before := photo(t, dir)
	var patch string
	u := mustUpdate(t, dir, func(tree *Tree) error {
		_ = newProject(tree)
		tree.Remove("alias/linked.yaml")
		tree.WriteFile("a\tquoted name", []byte("x\n"), 0o644)
		return nil
	})
	patch = Diff(u.Changes)
	want := photo(t, dir)
	back := exec.Command(git, "apply", "-R", "-")
	for _, step := range []struct {
		cmd  *exec.Cmd
		want string
	}{{back, before}, {exec.Command(git, "apply", "-"), want}} {
		step.cmd.Dir, step.cmd.Stdin = dir, strings.NewReader(patch)
		if out, err := step.cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, patch)
		}
		if got, want := withoutModes(photo(t, dir)), withoutModes(step.want); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// withoutModes removes modes and empty directories, of which git records only the executable bit.
func withoutModes(photo string) string {
	var b strings.Builder
	for line := range strings.Lines(photo) {
		if name, content, ok := strings.Cut(line, " \""); ok {
			b.WriteString(name[:strings.LastIndex(name, " ")] + " " + content)
		}
	}
	return b.String()
}

func TestDiffIsFast(t *testing.T) {
	var old, new strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&old, "example.com/m%d v1.0.0 h1:%d=\n", i, i)
		if i%100 != 0 {
			fmt.Fprintf(&new, "example.com/m%d v1.0.0 h1:%d=\n", i, i)
		}
		for range 2 {
			new.WriteString("    type: object\n")
			old.WriteString("    type: object\n")
		}
	}
	start := time.Now()
	d := Diff([]Change{{Path: "x", Old: []byte(old.String()), New: []byte(new.String())}})
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	} else {
		t.Logf("took %v", took)
	}
	if n := strings.Count(d, "\n-"); n < 100 || n > 110 {
		t.Errorf("%d lines removed", n)
	}
}
