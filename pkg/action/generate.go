package action

import (
	"context"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Generate updates the generated files of the project.
func (p *Project) Generate(ctx context.Context, what codegen.Generators) (*Result, error) {
	return p.Update(ctx, func(tree *worktree.Tree) error {
		if _, err := p.Load(ScaffoldedLayouts); err != nil {
			return err
		}
		return p.GenerateIn(ctx, tree, what)
	})
}

// GenerateIn updates the files in a tree that are generated from Go code, for which it downloads missing modules, from charts, and
// from Ansible roles and playbooks.
func (p *Project) GenerateIn(ctx context.Context, tree *worktree.Tree, what codegen.Generators) error {
	config, err := p.LoadFrom(tree, AnyLayout)
	if err != nil {
		return p.KindsOf(layout.Go()).Generate(ctx, p, tree, nil, what)
	}
	return p.KindsOf(config.Facts()).Generate(ctx, p, tree, config, what)
}
