package action

import (
	"context"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// addCharts prepares a Go project for its first kind with a chart.
func (p *Project) addCharts(ctx context.Context, tree *worktree.Tree, data scaffold.Data) error {
	header, _, err := p.header(tree)
	if err != nil {
		return err
	}
	data.Project.Boilerplate = header
	added, err := scaffold.AddCharts(tree, data)
	if err != nil || !added {
		return err
	}
	if err := p.requireOperon(ctx, tree); err != nil {
		return err
	}
	return p.vendor(ctx, tree)
}

// requireOperon adds the module that reconciles kinds with charts to go.mod, unless it requires or replaces the module already.
func (p *Project) requireOperon(ctx context.Context, tree *worktree.Tree) error {
	known, err := scaffold.HasModule(tree, scaffold.OperonModule)
	if err != nil {
		return err
	}
	if !known {
		if strings.HasSuffix(p.Version, "-dev") {
			return diag.Finding{
				Position: diag.Position{File: "go.mod"},
				Problem:  scaffold.OperonModule + " is required, and this program is a development build, whose version of it is not published",
				Fix:      "'go mod edit -replace " + scaffold.OperonModule + "=DIR' with the directory of its source, or use a release of " + p.Program,
			}
		}
		if err := scaffold.AddRequirement(tree, scaffold.OperonModule, p.Version); err != nil {
			return err
		}
	}
	return p.Go.Tidy(ctx, tree)
}
