package cmd_test

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestTutorial executes the tutorial of the README, as make quickstart does: every command must succeed
// and print what the README says.
func TestTutorial(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the tutorial builds with make")
	}
	if _, err := controlPlaneAssets(); err != nil {
		t.Fatal(err)
	}
	if err := projectModules(); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "operon")
	if out, err := exec.Command("go", "build", "-o", program, "..").CombinedOutput(); err != nil {
		t.Fatalf("building operon: %v\n%s", err, out)
	}
	c := exec.Command("go", "run", "./testdata/tutorial", "-operon", program, "README.md")
	c.Dir = ".."
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("the tutorial: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "$ kubectl delete memcached memcached-sample") {
		t.Errorf("the tutorial did not get to its end:\n%s", out)
	}
}
