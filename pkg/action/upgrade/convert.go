package upgrade

import (
	"bytes"
	"context"
	"fmt"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// ConvertAlpha converts a PROJECT file of version 3-alpha to version 3.
func ConvertAlpha(ctx context.Context, p *action.Project) (*action.Result, error) {
	unchanged := ""
	result, err := p.Update(ctx, func(tree *worktree.Tree) error {
		text, err := tree.ReadFile(project.FileName)
		if err != nil {
			return fmt.Errorf("reading %s: %w", project.FileName, diag.Cause(err))
		}
		converted, err := project.ConvertAlpha(text, func(dir, kind string) (project.AlphaFacts, error) { return action.AlphaFacts(tree, dir, kind) })
		if err != nil {
			return err
		}
		if bytes.Equal(text, converted) {
			unchanged = fmt.Sprintf("%s already has version 3; nothing was changed", project.FileName)
		}
		tree.WriteFile(project.FileName, converted, 0o644)
		return nil
	})
	if err != nil {
		return nil, err
	}
	result.Unchanged = unchanged
	return result, nil
}
