package worktree

import (
	"fmt"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A command may read a file several times; its conflicts are listed once, for all files.
func TestCheckConflicts(t *testing.T) {
	t.Parallel()
	const files = diag.MaxListed + 1
	fsys := afero.NewMemMapFs()
	tree := NewTree(fsys, "/project")
	want := ""
	for i := range files {
		name := fmt.Sprintf("%02d.txt", i)
		if err := afero.WriteFile(fsys, "/project/"+name, []byte("<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := tree.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
		if i > 0 {
			want += "\n"
		}
		want += name + ":1: merge conflict marker; resolve the conflict (lines 1-5)"
	}
	err := tree.CheckConflicts()
	if err == nil || err.Error() != want {
		t.Errorf("CheckConflicts() = %q, want %q", err, want)
	}
	for i := range files {
		tree.WriteFile(fmt.Sprintf("%02d.txt", i), []byte("resolved\n"), 0o644)
	}
	if err := tree.CheckConflicts(); err != nil {
		t.Errorf("CheckConflicts() after the conflicts were resolved = %v, want nil", err)
	}
}
