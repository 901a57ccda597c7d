package worktree

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"
)

// Root is denied access if its thread accesses files as another user.
func TestReadOnlyFolderAsRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can change the user of a thread; TestReadOnlyFolders covers other users")
	}
	dir := oldProject(t)
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir+"/stale/zz.go", 0o644); err != nil {
		t.Fatal(err)
	}
	// The other user may write to all directories except one.
	for _, name := range []string{".", "hack", "real", "stale"} {
		if err := os.Chmod(dir+"/"+name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	const user = 65534
	parent := dir + "-home"
	if err := os.Mkdir(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(parent, user, user); err != nil {
		t.Fatal(err)
	}
	location := Location{FS: afero.NewOsFs(), Root: dir, StateDirs: []string{parent + "/operon"}}
	before := photo(t, dir)
	fail := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		_, _ = unix.SetfsuidRetUid(user)
		_, err := Update(t.Context(), location, LockOptions{}, newProject)
		fail <- err
	}()
	err := <-fail
	if err == nil || !strings.Contains(err.Error(), "writing cmd/main.go: permission denied; make") || strings.Contains(err.Error(), dir) {
		t.Errorf("error %v", err)
	}
	if got := photo(t, dir); got != before {
		t.Errorf("left\n%s\nwant\n%s", got, before)
	}
}

// A file system of 64 KiB that is full.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	dir := t.TempDir()
	if err := unix.Mount("operon-test", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, 0) })
	for free := 0; free < 60; free += 4 {
		put(t, dir, "PROJECT", "old\n", 0o644)
		put(t, dir, "filler", strings.Repeat("x", (60-free)*1024), 0o644)
		before := photo(t, dir)
		_, err := update(afero.NewOsFs(), dir, func(tree *Tree) error {
			tree.WriteFile("a/b/big", []byte(strings.Repeat("y", 30_000)), 0o644)
			tree.WriteFile("PROJECT", []byte("new\n"), 0o644)
			return nil
		})
		if free < 28 && err == nil {
			t.Fatalf("%d KiB were enough", free)
		}
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "no space left on device; free some space") || strings.Contains(err.Error(), dir) {
			t.Errorf("%d KiB free: error %v", free, err)
		}
		if got := photo(t, dir); got != before {
			t.Errorf("%d KiB free: tree changed", free)
		}
	}
	t.Error("never enough space")
}
