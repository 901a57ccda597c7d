//go:build unix

package worktree

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
)

const (
	crashDir = "OPERON_TEST_CRASH_DIR"
	crashAt  = "OPERON_TEST_CRASH_AT"
)

// TestCrashChild is a command that kills itself without cleanup before its n-th change of a real directory.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("TestKillProcess runs this test as a child process")
	}
	n, err := strconv.Atoi(os.Getenv(crashAt))
	if err != nil {
		t.Fatal(err)
	}
	// Modes are the project's, not the ones of who runs the command.
	syscall.Umask(0o077)
	fsys := &faultFs{failAt: n, die: func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}}
	if _, err := update(fsys, dir, newProject); err != nil {
		t.Fatal(err)
	}
}

// crash runs the command in dir and reports whether it was killed.
func crash(t *testing.T, dir string, n int) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
	cmd.Env = append(os.Environ(), crashDir+"="+dir, crashAt+"="+strconv.Itoa(n))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("child at %d: %v\n%s", n, err, out)
	}
	return true
}

// A real process is killed before each change. After recovery, the tree is the old or the new one, and repeating the command, also with
// interruptions, completes it.
func TestKillProcess(t *testing.T) {
	t.Parallel()
	want := newPhoto(t)
	committed := false
	n := 1
	for ; ; n++ {
		dir := oldProject(t)
		before := photo(t, dir)
		if !crash(t, dir, n) {
			if got := photo(t, dir); got != want {
				t.Fatalf("without a crash:\n%s", got)
			}
			break
		}
		if Unfinished(at(afero.NewOsFs(), dir)) != nil {
			crash(t, dir, 5) // in the middle of recovery
		}
		mustUpdate(t, dir, nothing)
		switch got := photo(t, dir); {
		case got == want && (committed || n > 40):
			committed = true
		case got != before || committed:
			t.Fatalf("killed at %d:\n%s\nwant\n%s", n, got, before)
		}
		if crash(t, dir, 0) {
			t.Fatal("killed without a reason")
		}
		if got := photo(t, dir); got != want {
			t.Fatalf("killed at %d, run again:\n%s\nwant\n%s", n, got, want)
		}
	}
	if !committed || n < 50 {
		t.Errorf("%d mutations, committed %v", n, committed)
	}
}

func TestReadOnlyFolders(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can write to read-only directories; TestReadOnlyFolderAsRoot covers root")
	}
	t.Parallel()
	for _, name := range []string{".", "cmd"} {
		dir := oldProject(t)
		p := dir + "/" + name
		if err := os.Chmod(p, 0o555); err != nil {
			t.Fatal(err)
		}
		before := photo(t, dir)
		_, err := update(afero.NewOsFs(), dir, newProject)
		if err == nil || !strings.Contains(err.Error(), "permission denied; make the project's directory") || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error %v", name, err)
		}
		if got := photo(t, dir); got != before {
			t.Errorf("%s:\n%s", name, got)
		}
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
