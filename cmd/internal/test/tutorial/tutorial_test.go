package tutorial

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestTutorial executes sections of the README, as make quickstart does: every command must succeed and print what the
// README shows, every edit must apply, and nothing may be left.
func TestTutorial(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it starts control planes")
	if runtime.GOOS == "windows" {
		t.Skip("the tutorial runs make and a POSIX shell")
	}
	if _, err := clitest.ControlPlaneAssets(); err != nil {
		t.Fatal(err)
	}
	if _, err := clitest.WorkloadAssets(); err != nil {
		t.Fatal(err)
	}
	if err := clitest.DownloadModules(); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for name, pkg := range map[string]string{"operon": ".", "tutorial": "./testdata/tutorial"} {
		c := exec.Command("go", "build", "-o", filepath.Join(bin, name), pkg)
		c.Dir = clitest.Root()
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", name, err, out)
		}
	}
	for section, last := range map[string]string{
		"Quick start":               "^C",
		"Tutorial":                  "$ kubectl delete memcached memcached-sample",
		"Develop without a cluster": "$ operon generate --check",
	} {
		t.Run(section, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			c := exec.Command(filepath.Join(bin, "tutorial"), "-operon", filepath.Join(bin, "operon"), "-section", section, "README.md")
			c.Dir = clitest.Root()
			c.Env = append(os.Environ(), "TMPDIR="+tmp)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), last) {
				t.Errorf("it did not get to its end:\n%s", out)
			}
			clitest.CheckNoProcesses(t, tmp, 10*time.Second)
			left, err := os.ReadDir(tmp)
			if err != nil || len(left) > 0 {
				t.Errorf("left: %v (%v)", left, err)
			}
		})
	}
}
