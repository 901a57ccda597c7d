package refactor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/tempdir"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Check type-checks the code of a tree with the requirements of its own go.mod, which need not be on disk yet. Errors in
// generated files are left out.
func Check(ctx context.Context, tree *worktree.Tree, g gotool.Go) (diag.Findings, error) {
	m, err := gosource.ReadModule(tree)
	if err != nil {
		return nil, err
	}
	dir, err := tempdir.New("", "go-mod")
	if err != nil {
		return nil, fmt.Errorf("writing go.mod for the go command: %w", err)
	}
	defer func() { _ = dir.Remove() }() // later commands remove what remains
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := tree.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir.Path, name), text, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("writing %s for the go command: %w", name, err)
		}
	}
	libs, err := listLibraries(ctx, tree, g, []string{"-mod=mod", "-modfile=" + filepath.Join(dir.Path, "go.mod")}, m)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(m.Check(libs, nil), isGenerated), nil
}

// BrokenPackages returns the directories of the packages of a tree that do not compile. It is an error if packages cannot be
// imported, for example if modules are missing from the module cache, because further errors may follow from that.
func BrokenPackages(ctx context.Context, tree *worktree.Tree, g gotool.Go) (map[string]bool, error) {
	findings, err := Check(ctx, tree, g)
	if err != nil {
		return nil, err
	}
	failing := map[string]bool{}
	for _, f := range findings {
		if strings.HasPrefix(f.Problem, importProblem) {
			return nil, diag.Findings{f}
		}
		failing[path.Dir(f.File)] = true
	}
	return failing, nil
}

// importProblem is the start of the messages of go/types about failed imports.
const importProblem = "could not import "

func isGenerated(f diag.Finding) bool {
	return strings.HasPrefix(path.Base(f.File), "zz_generated.")
}

// quotedPath matches an import path before the name of a declaration.
var quotedPath = regexp.MustCompile(`"(?:[^"]*/)?([^"/]+)"\.`)

// NewErrors returns the errors in the code of a tree that the earlier code did not have. Errors in generated files are
// left out, because these files are generated again.
func NewErrors(ctx context.Context, tree *worktree.Tree, before *gosource.Module, g gotool.Go) (diag.Findings, error) {
	after, err := gosource.ReadModule(tree)
	if err != nil {
		return nil, err
	}
	libs, err := listLibraries(ctx, tree, g, nil, before, after)
	if err != nil {
		return nil, err
	}
	findings := slices.DeleteFunc(after.Check(libs, nil), isGenerated)
	if len(findings) == 0 {
		return nil, nil
	}
	// Line numbers may have changed. Messages name a package by its path if another one of its name is loaded, which
	// depends on the packages checked before.
	type problem struct{ file, message string }
	about := func(f diag.Finding) problem { return problem{f.File, quotedPath.ReplaceAllString(f.Problem, "$1.")} }
	known := map[problem]int{}
	for _, f := range before.Check(libs, nil) {
		known[about(f)]++
	}
	return slices.DeleteFunc(findings, func(f diag.Finding) bool {
		known[about(f)]--
		return known[about(f)] >= 0
	}), nil
}
