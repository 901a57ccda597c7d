package clitest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// BuildPeer builds the kubebuilder that the module in a directory of testdata requires and returns its path.
func BuildPeer(t *testing.T, dir, pkg string) string {
	t.Helper()
	SkipIfShort(t, "it builds a peer")
	return BuildProgram(t, Testdata(dir), pkg)
}

// RunPeer runs a command of a peer in a project. The test fails if the command does.
func RunPeer(t *testing.T, program, dir string, args ...string) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod "+BuildFlags, "GOTOOLCHAIN=local")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("kubebuilder %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
