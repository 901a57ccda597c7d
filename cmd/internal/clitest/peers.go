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
	return BuildProgram(t, Testdata(dir), pkg)
}

// RunPeer runs a command of a peer in a project and fails the test if that fails.
func RunPeer(t *testing.T, program, dir string, args ...string) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod "+BuildFlags, "GOTOOLCHAIN=local")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("kubebuilder %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// RunProjectTests runs the tests of the project example.com/walk on real API servers, one package at a time, and checks
// that those of the named packages are not empty.
func RunProjectTests(t *testing.T, dir string, packages ...string) {
	t.Helper()
	assets, err := ControlPlaneAssets()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"KUBEBUILDER_ASSETS=" + assets.Dir, "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=3m"}
	out := RunGo(t, dir, env, "test", "-vet=off", "-p", "1", "./...")
	for _, pkg := range packages {
		if !strings.Contains(out, "ok  \texample.com/walk/"+pkg+"\t") {
			t.Errorf("no tests of %s ran:\n%s", pkg, out)
		}
	}
}
