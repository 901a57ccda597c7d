//go:build unix

package upgrade

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestConflictOutsideCode upgrades a project with a conflict in its Dockerfile: its code is checked and generated,
// because that does not depend on the conflict.
func TestConflictOutsideCode(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it compiles a project")
	dir := oldProjects()[1].unpack(t)
	clitest.EditFile(t, dir, "Dockerfile", "FROM golang:1.18 as", "FROM golang:1.18@sha256:"+strings.Repeat("0", 64)+" as")
	code, out, errOut := clitest.Run(t, dir, "", "upgrade")
	if code != 1 || !strings.Contains(errOut, "error: there are conflicts: ") || !strings.Contains(errOut, "\n    Dockerfile\n") {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	if text := clitest.ReadFile(t, filepath.Join(dir, "Dockerfile")); !conflict.MatchString(text) {
		t.Errorf("no conflict is marked:\n%s", text)
	}
	if code, out, errOut := clitest.Run(t, dir, "", "generate", "--check"); code != 0 {
		t.Errorf("generate --check: exit code %d\n%s%s", code, out, errOut)
	}
}
