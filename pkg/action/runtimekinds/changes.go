package runtimekinds

import (
	"context"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Delete removes what create api wrote for a kind. What the user has edited, which includes edited, is removed only with force.
func Delete(p *action.Project, tree *worktree.Tree, deletion scaffold.Deletion, edited diag.Findings, force bool) error {
	report, err := scaffold.Delete(tree, deletion)
	if err != nil {
		return err
	}
	edited = scaffold.SortPlaces(append(edited, report.Lost...))
	if len(edited) > 0 && !force {
		return scaffold.EditedError(edited)
	}
	p.ReportLost(edited)
	return nil
}

// Rename makes the planned changes, and generates for the new names in PROJECT. It returns where old names remain.
func Rename(ctx context.Context, p *action.Project, tree *worktree.Tree, after *project.Config, plan refactor.Renaming) (*refactor.Remaining, error) {
	remaining, err := refactor.Rename(ctx, tree, plan, p.Types())
	if err != nil {
		return nil, err
	}
	tree.WriteFile(project.FileName, after.Bytes(), worktree.FileMode)
	return remaining, p.GenerateIn(ctx, tree, codegen.All)
}
