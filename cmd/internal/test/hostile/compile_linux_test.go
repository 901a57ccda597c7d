package hostile

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestImageBuildRunsNothing builds the image of a Go operator whose repository and code name programs, and expects all processes to be of the
// Go distribution.
func TestImageBuildRunsNothing(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it compiles a program")
	c := newClone(t, "clone")
	// Only what is compiled matters.
	clitest.WriteFiles(t, c.root, map[string]string{
		"go.mod": "module github.com/example/memcached-operator\n\ngo 1.24.0\n", "go.sum": "",
		"cmd/main.go":      "package main\n\n//go:generate " + filepath.Join(c.programs, "evil") + "\n\nfunc main() {}\n",
		"cmd/main_test.go": "package main\n\nimport \"os/exec\"\n\nfunc init() { _ = exec.Command(\"evil\").Run() }\n",
	})
	if out := c.run("image", "build", "--oci-layout", "layout", "--base", "scratch"); !strings.Contains(out, "layout") {
		t.Errorf("no image was built\n%s", out)
	}
}

// TestCgoFlags checks types of a package whose cgo flags load a plugin into the C compiler, which the go command refuses.
func TestCgoFlags(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it loads the packages of a project")
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no C compiler")
	}
	for _, flags := range []string{"CFLAGS: -fplugin=EVIL", "CFLAGS: -wrapper EVIL", "CFLAGS: -B EVIL", "LDFLAGS: -Wl,-plugin,EVIL", "pkg-config: --EVIL"} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			c := newClone(t, "")
			c.environ = []string{"CGO_ENABLED=1", "CC=" + compiler}
			c.tools = []string{"/usr"}
			flags := strings.ReplaceAll(flags, "EVIL", filepath.Join(c.programs, "evil"))
			clitest.WriteFiles(t, c.root, map[string]string{
				"internal/controller/c.go": "package controller\n\n// #cgo " + flags + "\n// int one(void) { return 1; }\nimport \"C\"\n\nvar One = C.one()\n",
			})
			c.run("generate")
			c.run("delete", "api", "--group", "cache", "--version", "v1alpha1", "--kind", "Memcached", "--force")
		})
	}
}
