package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
)

// TestEditWithTheSameTime edits a file while a command runs, on a file system whose times do not show it. Commit compares the content.
func TestEditWithTheSameTime(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	second := time.Unix(1767225600, 0)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, second, second); err != nil {
			t.Fatal(err)
		}
	}
	write("one\n")
	tx, err := Begin(t.Context(), at(afero.NewOsFs(), dir), LockOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	if _, err := tx.ReadFile("a.txt"); err != nil {
		t.Fatal(err)
	}
	write("two\n")
	tx.WriteFile("a.txt", []byte("three\n"), 0o644)
	changes, err := tx.Commit(t.Context())
	if _, ok := errors.AsType[*ChangedError](err); !ok {
		t.Errorf("Commit = %v, %v, want a ChangedError", changes, err)
	}
	if text, err := os.ReadFile(name); string(text) != "two\n" {
		t.Errorf("the file is %q, %v", text, err)
	}
}
