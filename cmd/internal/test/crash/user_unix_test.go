//go:build unix

package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestTwoUsers checks that a command waits for another user's command, whose state directory it cannot read.
func TestTwoUsers(t *testing.T) {
	t.Parallel()
	base, program := clitest.ShareProgram(t)
	dir := filepath.Join(base, "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.MustRun(t, dir, "init", "--domain", "example.com", "--repo", "example.com/crash", "--project-name", "crash")
	clitest.WalkTree(t, dir, func(p string, _ os.DirEntry) {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	})
	lock, err := worktree.Lock(t.Context(), clitest.Location(dir), worktree.LockOptions{Command: "operon rename"})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	create := func(timeout string) (string, error) {
		c := exec.Command(program, "create", "api", "--group", "cache", "--version", "v1", "--kind", "Memcached", "--resource", "--controller",
			"--make=false", "--lock-timeout", timeout)
		c.Dir = dir
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base, "TMPDIR=" + os.TempDir(), "GOTOOLCHAIN=local", clitest.KillVariable + "=0"}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: clitest.Nobody, Gid: clitest.Nobody}}
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := create("100ms"); err == nil || !strings.Contains(out, "error: another command is still changing this project") {
		t.Errorf("error %v\n%s", err, out)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if out, err := create("1m"); err != nil {
		t.Errorf("error %v\n%s", err, out)
	}
}
