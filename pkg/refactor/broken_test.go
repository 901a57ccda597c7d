package refactor

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/typecheck"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// goTool runs the go command with additional variables.
func goTool(environ ...string) gotool.Go {
	return gotool.Go{Progress: io.Discard, Start: func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
		c := exec.CommandContext(ctx, "go", args...)
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, slices.Concat(os.Environ(), environ, variables), out, errOut
		return c.Run()
	}}
}

func writeTestFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFailing checks which packages are reported as failing: a missing package may be the reason for other problems.
func TestFailing(t *testing.T) {
	t.Parallel()
	checker := typecheck.Checker{Go: goTool(), Environ: os.Environ()}
	checker.Go.Offline = true
	for code, want := range map[string]string{
		"import \"strings\"\n\nvar _ = strings.Clone\n":            "map[] <nil>",
		"import \"example.org/none\"\n\nvar _ none.Kind\n":         importProblem,
		"import \"strings\"\n\nvar _ = strings.NoFunction\n":       "map[a:true] <nil>",
		"import \"example.org/none\"\n\nvar _ none.Kind = wrong\n": importProblem,
	} {
		dir := t.TempDir()
		tree := worktree.NewTree(afero.NewOsFs(), dir)
		writeTestFiles(t, dir, map[string]string{"go.mod": "module example.com/p\n\ngo 1.21\n", "a/a.go": "package a\n\n" + code, "b/b.go": "package b\n"})
		if got := fmt.Sprint(BrokenPackages(t.Context(), tree, checker)); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", strings.TrimSpace(code), got, want)
		}
	}
}

// TestFailingDownloads checks code that imports a package whose module is in the module cache, and which imports one whose
// module is not.
func TestFailingDownloads(t *testing.T) {
	t.Parallel()
	proxy, dir := t.TempDir(), t.TempDir()
	serve := func(module, code, require string) {
		mod := "module " + module + "\n\ngo 1.21\n" + require
		var archive bytes.Buffer
		w := zip.NewWriter(&archive)
		for name, text := range map[string]string{"go.mod": mod, "code.go": code} {
			if file, err := w.Create(module + "@v1.0.0/" + name); err != nil {
				t.Fatal(err)
			} else if _, err := io.WriteString(file, text); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		writeTestFiles(t, filepath.Join(proxy, module, "@v"), map[string]string{"v1.0.0.info": `{"Version":"v1.0.0"}`, "v1.0.0.mod": mod, "v1.0.0.zip": archive.String()})
	}
	serve("example.com/dep", "package dep\n", "")
	serve("example.com/lib", "package lib\n\nimport _ \"example.com/dep\"\n", "\nrequire example.com/dep v1.0.0\n")
	writeTestFiles(t, dir, map[string]string{
		"go.mod": "module example.com/p\n\ngo 1.21\n\nrequire example.com/lib v1.0.0\n\nrequire example.com/dep v1.0.0 // indirect\n",
		"a.go":   "package p\n\nimport _ \"example.com/lib\"\n",
	})
	checker := typecheck.Checker{Environ: os.Environ(), Go: goTool("GOPROXY=file://"+filepath.ToSlash(proxy), "GOSUMDB=off", "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw")}
	if _, err := checker.Go.Run(t.Context(), gotool.Command{Dir: dir, Args: []string{"mod", "download", "example.com/lib"}}); err != nil {
		t.Fatal(err)
	}
	if failing, err := BrokenPackages(t.Context(), worktree.NewTree(afero.NewOsFs(), dir), checker); err != nil || len(failing) > 0 {
		t.Errorf("got %v, %v", failing, err)
	}
}
