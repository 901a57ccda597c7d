package typecheck

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestCgoOfCopy checks a copy of a project after the project. With -trimpath, the build cache then has generated files that
// name the directory of the project.
func TestCgoOfCopy(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no C compiler")
	}
	project := txtar.Parse([]byte(`
-- go.mod --
module example.com/project

go 1.24
-- c/c.go --
package c

// static int f(void) { return 1; }
import "C"

var a string = C.f()
`))
	c := newChecker(t.TempDir(), "CGO_ENABLED=1", "GOFLAGS=-trimpath")
	for range 2 {
		found, err := c.Check(t.Context(), worktree.NewTree(afero.NewOsFs(), unpack(t, project)))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != 1 || fmt.Sprintf("%s:%d", found[0].File, found[0].Line) != "c/c.go:6" {
			t.Error(found)
		}
	}
}
