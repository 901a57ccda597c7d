package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
)

// TestCommandLine checks that printed commands repeat -C.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	for dir, want := range map[string]string{"": "operon", "sub": "operon -C sub", "my project": `operon -C "my project"`} {
		if err := os.MkdirAll(filepath.Join(parent, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		a := newApp(&Env{Dir: parent, FS: afero.NewOsFs()}, "operon")
		a.dir = dir
		if err := a.enterDirectory(); err != nil {
			t.Fatal(err)
		}
		if got := a.commandLine(); got != want {
			t.Errorf("commandLine() with -C %q = %q, want %q", dir, got, want)
		}
	}
}
