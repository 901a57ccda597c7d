package reshape

import (
	"context"
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

// TestCompiles checks that code counts as compiling unless something else than a missing package keeps it from that.
func TestCompiles(t *testing.T) {
	t.Parallel()
	g := gotool.Go{Offline: true, Progress: io.Discard, Start: func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
		c := exec.CommandContext(ctx, "go", args...)
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(os.Environ(), variables...), out, errOut
		return c.Run()
	}}
	for code, want := range map[string]bool{
		"import \"strings\"\n\nvar _ = strings.Clone\n":            true,
		"import \"example.org/none\"\n\nvar _ none.Kind\n":         true,
		"import \"strings\"\n\nvar _ = strings.NoFunction\n":       false,
		"import \"example.org/none\"\n\nvar _ none.Kind = wrong\n": false,
	} {
		dir := t.TempDir()
		tree := scaffold.NewTree(afero.NewOsFs(), dir)
		for name, text := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.21\n", "a.go": "package p\n\n" + code} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := Compiles(t.Context(), tree, g); got != want {
			findings, err := Check(t.Context(), tree, g)
			t.Errorf("%s: got %t: %v, %v", strings.TrimSpace(code), got, findings, err)
		}
	}
}
