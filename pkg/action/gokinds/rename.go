package gokinds

import (
	"context"
	"fmt"
	"path"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/rename"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Rename implements Kinds.
func (Kinds) Rename(ctx context.Context, p *action.Project, tree *worktree.Tree, before, after *project.Config) (*refactor.Remaining, error) {
	header, _, err := p.Header(tree)
	if err != nil {
		return nil, err
	}
	dirs, err := crdDirs(tree)
	if err != nil {
		return nil, err
	}
	plan, err := rename.Plan(p, tree, before, after, header, dirs)
	if err != nil {
		return nil, err
	}
	type crd struct{ kind, file string }
	var expected []crd
	for _, api := range plan.APIs {
		for _, dir := range dirs {
			if tree.Exists(path.Join(dir, api[0].CRDFile())) {
				expected = append(expected, crd{api[1].Kind, path.Join(dir, api[1].CRDFile())})
			}
		}
	}
	remaining, err := refactor.Rename(ctx, tree, plan, p.Types())
	if err != nil {
		return nil, err
	}
	tree.WriteFile(project.FileName, after.Bytes(), 0o644)
	if err := p.GenerateIn(ctx, tree, codegen.All); err != nil {
		return nil, err
	}
	for _, c := range expected {
		if !tree.Exists(c.file) {
			return nil, fmt.Errorf(
				"nothing was changed: the markers on type %s do not generate %s; set its plural with +kubebuilder:resource:path, or name its plural with --to-plural", c.kind, c.file)
		}
	}
	return remaining, nil
}
