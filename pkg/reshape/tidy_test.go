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

	"github.com/operon-sdk/operon/pkg/scaffold"
)

// TestTidy tidies what is in a tree, not what is on disk, and does nothing where it would need a network.
func TestTidy(t *testing.T) {
	t.Parallel()
	const mod = "module m.example/m\n\ngo 1.26.0\n\nrequire example.invalid/x v1.0.0\n"
	for _, test := range []struct {
		name, disk, tree string
		tidy             bool
	}{
		{"unused", "package m\n\nimport _ \"example.invalid/x\"\n", "package m\n", true},
		{"not there", "package m\n", "package m\n\nimport _ \"example.invalid/x\"\n", false},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"m.go": test.disk, "gone.go": "package m\n\nimport _ \"example.invalid/y\"\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		tree := scaffold.NewTree(afero.NewOsFs(), dir)
		tree.WriteFile("go.mod", []byte(mod), 0o644)
		tree.WriteFile("m.go", []byte(test.tree), 0o644)
		tree.Remove("gone.go")
		tidy, err := Tidy(t.Context(), tree, runGo)
		if err != nil || tidy != test.tidy {
			t.Fatalf("%s: tidy %t, %v", test.name, tidy, err)
		}
		if has := strings.Contains(string(tree.Overlay()["go.mod"]), "example.invalid"); has == test.tidy {
			t.Errorf("%s: %s", test.name, tree.Overlay()["go.mod"])
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			t.Errorf("%s: go.mod was written", test.name)
		}
	}
}

// runGo runs the go command of the test.
func runGo(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(os.Environ(), variables...), out, errOut
	return c.Run()
}
