package typecheck_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/typecheck"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// check returns the verdict of the type checker about a project with changed files.
func check(t *testing.T, project string, files map[string][]byte) verdict {
	t.Helper()
	tree := worktree.NewTree(afero.NewOsFs(), project)
	for name, data := range files {
		tree.WriteFile(name, data, 0o644)
	}
	c := typecheck.Checker{CacheDir: *cacheDir, Environ: os.Environ(), Go: gotool.Go{
		Offline: true, Progress: io.Discard,
		Start: func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
			cmd := exec.CommandContext(ctx, "go", args...)
			cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, slices.Concat(os.Environ(), variables), out, errOut
			return cmd.Run()
		},
	}}
	found, err := c.Check(t.Context(), tree)
	if invalid, ok := errors.AsType[diag.Findings](err); ok {
		found = invalid // of the syntax, and nothing else is checked
	} else if err != nil {
		t.Fatal(err)
	}
	v := verdict{errors: map[string][]string{}}
	for _, f := range found {
		position := f.Position
		position.Column = 0
		v.put(position.String(), f.Problem)
	}
	return v
}
