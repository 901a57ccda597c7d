package script

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestInitIsHermetic runs init in a network namespace of its own, which has no network, not even
// loopback, and with an empty PATH: it opens no socket and starts no process.
func TestInitIsHermetic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := exec.Command(os.Args[0], "init", "--domain", "example.com", "--repo", "example.com/hermetic", "--project-name", "hermetic")
	c.Dir = dir
	c.Env = []string{"PATH=", clitest.KillVariable + "=0"}
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if n := len(clitest.ReadTree(t, dir)); n < 40 {
		t.Errorf("init wrote %d files, want at least 40", n)
	}
}
