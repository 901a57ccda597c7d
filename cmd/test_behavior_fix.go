package cmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/permit"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// fixPermissions corrects the permissions in a project after a run, generates the role, and returns the findings that are left. With
// --dry-run, these are all. ended reports whether the run came to its end.
func (a *app) fixPermissions(ctx context.Context, root string, observed *behavior.Observation, findings diag.Findings, ended bool) (left diag.Findings, err error) {
	if observed.Grants == nil || !slices.ContainsFunc(findings, behavior.IsAboutPermissions) {
		return findings, nil
	}
	var changes []permit.Change
	err = a.runAt(ctx, a.actions(), root, func(p *action.Project) error {
		result, err := p.Update(ctx, func(tree *worktree.Tree) (err error) {
			changes, left, err = permit.PlanFor(observed, ended).Correct(observed, tree, func() (*stage.Permissions, error) {
				if err := p.GenerateIn(ctx, tree, codegen.All); err != nil {
					return nil, err
				}
				return a.permissionsIn(ctx, root, tree, observed.Grants.Namespace())
			})
			return err
		})
		for _, change := range changes {
			if err == nil {
				a.print.Notef("%s", change)
			}
		}
		return a.print.Outcome(result, err)
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("--fix: %w", err)
	case a.dryRun:
		return findings, nil
	case len(changes) > 0:
		a.print.Nextf("run '%s test behavior' again: only a run shows whether the operator needs more", a.program)
	default:
		a.print.Notef("--fix: %s", nothingFixed(observed, ended))
	}
	return left, nil
}

// nothingFixed says why there are no changes.
func nothingFixed(observed *behavior.Observation, ended bool) string {
	if !ended || !observed.IsSettled() {
		return "nothing to correct, since the run doesn't show what the operator uses: it must come to its end, and the operator to rest"
	}
	return "no marker, and no rule of " + project.RoleFile + ", can be corrected"
}

// permissionsIn returns the permissions that the operator has with the changes of a tree.
func (a *app) permissionsIn(ctx context.Context, root string, tree *worktree.Tree, namespace string) (*stage.Permissions, error) {
	data, err := a.remote().Build(ctx, root, project.DefaultDir, tree.Edits())
	if err != nil {
		return nil, err
	}
	objects, err := kube.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", project.DefaultDir, err)
	}
	return stage.PermissionsOf(objects, namespace)
}
