package reshape

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// Code is the Go code of a project at one time.
type Code struct{ m *module }

// Snapshot reads the Go code of a tree.
func Snapshot(tree *scaffold.Tree) (*Code, error) {
	m, err := readModule(tree)
	if err != nil {
		return nil, err
	}
	return &Code{m}, nil
}

// Broken returns what keeps the code of a tree from compiling that did not do so before. Generated files
// do not count: they are made anew.
func Broken(ctx context.Context, tree *scaffold.Tree, before *Code, env []string) (codegen.Findings, error) {
	after, err := readModule(tree)
	if err != nil {
		return nil, err
	}
	libs, err := listLibraries(ctx, tree.Root(), env, before.m, after)
	if err != nil {
		return nil, err
	}
	generated := func(f codegen.Finding) bool { return strings.HasPrefix(path.Base(f.File), "zz_generated.") }
	findings := slices.DeleteFunc(check(after, libs), generated)
	if len(findings) == 0 {
		return nil, nil
	}
	known := check(before.m, libs)
	return slices.DeleteFunc(findings, func(f codegen.Finding) bool { return slices.Contains(known, f) }), nil
}
