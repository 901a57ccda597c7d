package reshape

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// TestFailing checks which packages are known to fail: a missing package may be the reason for other problems.
func TestFailing(t *testing.T) {
	t.Parallel()
	g := gotool.Go{Offline: true, Progress: io.Discard, Start: func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
		c := exec.CommandContext(ctx, "go", args...)
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(os.Environ(), variables...), out, errOut
		return c.Run()
	}}
	for code, want := range map[string]string{
		"import \"strings\"\n\nvar _ = strings.Clone\n":            "map[] <nil>",
		"import \"example.org/none\"\n\nvar _ none.Kind\n":         importProblem,
		"import \"strings\"\n\nvar _ = strings.NoFunction\n":       "map[a:true] <nil>",
		"import \"example.org/none\"\n\nvar _ none.Kind = wrong\n": importProblem,
	} {
		dir := t.TempDir()
		tree := scaffold.NewTree(afero.NewOsFs(), dir)
		for name, text := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.21\n", "a/a.go": "package a\n\n" + code, "b/b.go": "package b\n"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprint(Failing(t.Context(), tree, g)); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", strings.TrimSpace(code), got, want)
		}
	}
}
