package script

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestInitIsHermetic runs init without a network and with an empty PATH: it opens no socket and starts no process.
func TestInitIsHermetic(t *testing.T) {
	t.Parallel()
	for args, atLeast := range map[string]int{"--repo example.com/hermetic": 40, "--plugins helm": 35} {
		dir := t.TempDir()
		args := append(strings.Fields("init --domain example.com --project-name hermetic"), strings.Fields(args)...)
		runWithoutNetwork(t, dir, []string{"PATH="}, args...)
		if n := len(clitest.ReadTree(t, dir)); n < atLeast {
			t.Errorf("%s wrote %d files, want at least %d", args, n, atLeast)
		}
	}
}

// TestModulesInCache runs commands that download missing modules without a network: with the modules in the cache they
// open no socket, whatever the proxy and the checksum database are.
func TestModulesInCache(t *testing.T) {
	t.Parallel()
	dir := clitest.NewProject(t, "init --domain example.com --repo example.com/hermetic --project-name hermetic")
	env := append(os.Environ(), "GOPROXY=https://proxy.invalid", "GOSUMDB=sum.golang.org", "GOTOOLCHAIN=local", "GOFLAGS=")
	runWithoutNetwork(t, dir, env, "create", "api", "--group", "cache", "--version", "v1", "--kind", "Memcached", "--resource", "--controller")
	if testing.Short() {
		t.Log("-short: upgrade, which type-checks the project, is not run")
		return
	}
	clitest.EditFile(t, dir, "go.mod", "sigs.k8s.io/controller-runtime v0.25.2", "sigs.k8s.io/controller-runtime v0.25.1")
	out := runWithoutNetwork(t, dir, env, "upgrade")
	if !strings.HasPrefix(out, "updated  go.mod\n") {
		t.Errorf("upgrade printed\n%s", out)
	}
}

// runWithoutNetwork runs a command in a network namespace of its own, which has no network, not even loopback, fails the
// test if the command fails, and returns its output.
func runWithoutNetwork(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Dir = dir
	c.Env = append(env, clitest.KillVariable+"=0")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("operon %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}
