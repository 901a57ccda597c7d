package output

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/diag"
)

// TestProjectIsSoughtOnce places many findings. The project is sought for the first one only.
func TestProjectIsSoughtOnce(t *testing.T) {
	t.Parallel()
	fsys := &projectCounter{Fs: afero.NewMemMapFs()}
	dir := filepath.Join(string(filepath.Separator)+"p", "api")
	for _, name := range []string{filepath.Join(filepath.Dir(dir), "PROJECT"), filepath.Join(dir, "a.go")} {
		if err := afero.WriteFile(fsys, name, []byte("version: \"3\"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var errOut bytes.Buffer
	p := &Printer{Env: &env.Env{Err: &errOut, FS: fsys, Dir: dir, Environ: []string{"GITHUB_ACTIONS=true", "GITHUB_WORKSPACE=" + filepath.Dir(dir)}}}
	fsys.n = 0
	first := diag.Finding{Position: diag.Position{File: "api/a.go", Line: 1}, Problem: "x"}
	p.Warn(first)
	sought := fsys.n
	p.Warn(first, diag.Finding{Position: diag.Position{File: "a.go", Line: 2}, Problem: "y"}, first)
	if sought == 0 || fsys.n != sought {
		t.Errorf("PROJECT was sought %d times, then %d", sought, fsys.n-sought)
	}
	if got := errOut.String(); strings.Count(got, "::warning file=api/a.go,line=1::x\n") != 3 || !strings.Contains(got, "::warning file=api/a.go,line=2::y\n") {
		t.Errorf("printed\n%s", got)
	}
}

// A projectCounter counts how often something is asked about PROJECT.
type projectCounter struct {
	afero.Fs
	n int
}

func (c *projectCounter) Stat(name string) (fs.FileInfo, error) {
	c.count(name)
	return c.Fs.Stat(name)
}

func (c *projectCounter) Open(name string) (afero.File, error) {
	c.count(name)
	return c.Fs.Open(name)
}

func (c *projectCounter) count(name string) {
	if filepath.Base(name) == "PROJECT" {
		c.n++
	}
}
