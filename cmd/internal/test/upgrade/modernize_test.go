package upgrade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestModernize adds code for older libraries to projects, with the go.mod of that time, and upgrades them without
// network: they compile, are vetted and tidy, their tests pass on a real API server, and a second upgrade changes
// nothing.
func TestModernize(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob(clitest.Testdata("gocode", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	clitest.SkipIfShort(t, "it compiles projects")
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, command := range []string{
				"init --domain example.com --repo example.com/mine --project-name mine",
				"create api --group cache --version v1 --kind Memcached --resource --controller",
			} {
				if code, _, said := clitest.Run(t, dir, "", strings.Fields(command)...); code != 0 {
					t.Fatalf("%s: exit code %d\n%s", command, code, said)
				}
			}
			clitest.RunGo(t, dir, nil, "mod", "tidy") // for the module cache to hold what the scaffold needs
			for _, f := range archive.Files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f.Name)), 0o755); err != nil {
					t.Fatal(err)
				}
				clitest.WriteFile(t, filepath.Join(dir, f.Name), string(f.Data))
			}
			clitest.WriteFile(t, filepath.Join(dir, "go.sum"), "")
			if code, _, said := clitest.Run(t, dir, "", "upgrade"); code != 0 || !strings.HasSuffix(said, "next: review what changed, then 'make test'\n") {
				t.Fatalf("upgrade: exit code %d\n%s", code, said)
			}
			offline := []string{"GOFLAGS=-mod=readonly " + clitest.BuildFlags, "GOPROXY=off"}
			clitest.CheckTypes(t, dir, ".")
			if out := clitest.RunGo(t, dir, offline, "mod", "tidy", "-diff"); out != "" {
				t.Errorf("not tidy:\n%s", out)
			}
			clitest.CheckProjectTests(t, dir, []string{"./internal/..."}, "ok  \t")
			if code, _, said := clitest.Run(t, dir, "", "upgrade", "--check"); code != 0 {
				t.Errorf("--check afterwards: exit code %d\n%s", code, said)
			}
		})
	}
}
