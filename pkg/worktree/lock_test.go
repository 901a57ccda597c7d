package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/afero"
)

func mustLock(t *testing.T, dir string) *ProjectLock {
	t.Helper()
	lock, err := Lock(context.Background(), at(afero.NewOsFs(), dir), LockOptions{Command: "operon init", Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func TestLockNamesTheOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held := mustLock(t, dir)
	_, err := Lock(context.Background(), at(afero.NewOsFs(), dir), LockOptions{Command: "operon create api", Timeout: 50 * time.Millisecond})
	want := fmt.Sprintf("operon init (PID %d) is still changing this project after 50ms; try again when it has finished, or pass a longer --lock-timeout", os.Getpid())
	if be, ok := errors.AsType[*BusyError](err); !ok || be.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Lock(ctx, at(afero.NewOsFs(), dir), LockOptions{Command: "x", Timeout: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	for range 2 {
		if err := held.Unlock(); err != nil {
			t.Error(err)
		}
	}
	if got := photo(t, dir); strings.Contains(got, ".operon") {
		t.Error(got)
	}
}

func TestLockWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held := mustLock(t, dir)
	got := make(chan error)
	go func() {
		lock, err := Lock(context.Background(), at(afero.NewOsFs(), dir), LockOptions{Command: "second", Timeout: 10 * time.Second})
		if err == nil {
			err = lock.Unlock()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// TestLockExcludes runs many commands at once: never two of them hold the lock, and nothing remains.
func TestLockExcludes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				lock, err := Lock(context.Background(), at(afero.NewOsFs(), dir), LockOptions{Command: "x", Timeout: time.Minute})
				if err != nil {
					t.Error(err)
					return
				}
				guard := filepath.Join(dir, "inside")
				if err := os.Mkdir(guard, 0o755); err != nil {
					t.Errorf("two at once: %v", err)
				}
				if err := os.Remove(guard); err != nil {
					t.Error(err)
				}
				if err := lock.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := photo(t, dir); strings.Contains(got, ".operon") {
		t.Error(got)
	}
}

const lockChild = "OPERON_TEST_LOCK_CHILD"

// TestLockChild is the other process of TestLockOfTheDead.
func TestLockChild(t *testing.T) {
	dir := os.Getenv(lockChild)
	if dir == "" {
		t.Skip("TestLockOfTheDead runs this test as a child process")
	}
	mustLock(t, dir)
	fmt.Println("locked")
	time.Sleep(time.Minute)
}

func TestLockOfTheDead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockChild$")
	cmd.Env = append(os.Environ(), lockChild+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 6)
	if _, err := out.Read(buf); err != nil || string(buf) != "locked" {
		t.Errorf("child printed %q, %v", buf, err)
	}
	_, err = Lock(context.Background(), at(afero.NewOsFs(), dir), LockOptions{Command: "second", Timeout: 30 * time.Millisecond})
	if be, ok := errors.AsType[*BusyError](err); !ok || be.Holder != (Holder{"operon init", cmd.Process.Pid}) {
		t.Errorf("beside the living: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	lock, err := Lock(context.Background(), at(afero.NewOsFs(), dir), LockOptions{Command: "a very much longer name", Timeout: 5 * time.Second})
	if err != nil {
		t.Fatalf("after its death: %v", err)
	}
	if holder := lock.d.holder(); holder.Command != "a very much longer name" {
		t.Errorf("signed %v", holder)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
	if got := photo(t, dir); strings.Contains(got, ".operon") {
		t.Error(got)
	}
}

// TestLockInBadPlaces expects a project that doesn't exist and a lock that is not a file to be refused, and what is in the project's
// own .operon to be of no consequence.
func TestLockInBadPlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "file/.operon", "mine", 0o644)
	put(t, dir, "folder/.operon/lock/x", "mine", 0o644)
	put(t, dir, "blocked/x", "", 0o644)
	put(t, stateOf(t, filepath.Join(dir, "blocked")), "lock/x", "", 0o644)
	symlink(t, t.TempDir(), filepath.Join(dir, ".operon"))
	before := photo(t, dir)
	for sub, want := range map[string]string{
		"missing": "the project's directory does not exist",
		"blocked": "lock must be a regular file",
		"file":    "",
		"folder":  "",
		".":       "",
	} {
		lock, err := Lock(context.Background(), at(afero.NewOsFs(), filepath.Join(dir, sub)), LockOptions{Command: "x", Timeout: time.Second})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v", sub, err)
		}
		if err == nil {
			if err := lock.Unlock(); err != nil {
				t.Error(err)
			}
		}
	}
	if got := sources(photo(t, dir)); got != sources(before) {
		t.Error(got)
	}
}

func TestLockWithoutLocks(t *testing.T) {
	t.Parallel()
	dir, warned := t.TempDir(), 0
	fails := func(err error) LockOptions {
		return LockOptions{Unlocked: func() { warned++ }, tryLock: func(*flock.Flock) (bool, error) { return false, err }}
	}
	lock, err := Lock(t.Context(), at(afero.NewOsFs(), dir), fails(syscall.ENOSYS))
	if err != nil || warned != 1 {
		t.Fatalf("error %v, warned %d times", err, warned)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
	_, err = Lock(t.Context(), at(afero.NewOsFs(), dir), fails(syscall.ENOLCK))
	if err == nil || !strings.Contains(err.Error(), "grants no locks; if it is NFS, start its lock service") {
		t.Errorf("error %v", err)
	}
	if warned != 1 {
		t.Errorf("warned %d times", warned)
	}
}
