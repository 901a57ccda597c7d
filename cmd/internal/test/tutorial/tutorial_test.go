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
	"github.com/operon-sdk/operon/testdata/ansible"
)

// TestTutorial executes pages of the documentation, as make quickstart does: all commands must succeed with the output on the
// page, all edits must apply, and no processes or files may remain.
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
	clitest.CompileDependencies(t, clitest.Testdata("memcached-operator"))
	program, err := clitest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"console", "tutorial"} { // so that go test knows what the programs depend on
		clitest.ReadTree(t, clitest.Testdata(dir))
	}
	bin := t.TempDir()
	clitest.Symlink(t, program, filepath.Join(bin, "operon-runtime"))
	for name, pkg := range map[string]string{"operon": ".", "tutorial": "./testdata/tutorial"} {
		c := exec.Command("go", "build", "-o", filepath.Join(bin, name), pkg)
		c.Dir = clitest.Root()
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", name, err, out)
		}
	}
	for _, page := range []struct{ file, section, last string }{
		{"README.md", "Quick start", "^C"},
		{"README.md", "Helm operators", "$ operon bundle"},
		{"README.md", "Ansible operators", "$ operon bundle"},
		{"docs/tutorial.md", "", "$ operon bundle --check"},
		{"docs/tutorial-helm.md", "", "$ operon image build"},
		{"docs/tutorial-ansible.md", "", "$ operon bundle validate"},
		{"docs/tutorial-test.md", "", "$ operon render"},
		{"docs/develop.md", "", "$ operon generate --check"},
	} {
		t.Run(page.file, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(page.file, "ansible") {
				ansible.Require(t)
			}
			if page := clitest.ReadFile(t, clitest.Root(filepath.FromSlash(page.file))); !strings.Contains(page, "```console") {
				t.Fatal("the page has no commands")
			}
			tmp := t.TempDir()
			c := exec.Command(filepath.Join(bin, "tutorial"), "-operon", filepath.Join(bin, "operon"), "-section", page.section, page.file)
			c.Dir = clitest.Root()
			c.Env = append(os.Environ(), "TMPDIR="+tmp)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), page.last) {
				t.Errorf("%q was not executed:\n%s", page.last, out)
			}
			clitest.CheckNoProcesses(t, tmp, 30*time.Second)
			left, err := os.ReadDir(tmp)
			if err != nil || len(left) > 0 {
				t.Errorf("remaining files: %v (%v)", left, err)
			}
		})
	}
}
