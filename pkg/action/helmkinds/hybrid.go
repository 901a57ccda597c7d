package helmkinds

import (
	"context"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// requireOperon adds the module that reconciles kinds with charts, and the modules that it imports, to the go.mod of a Go project. A
// development build, whose version is not published, needs a replace directive.
func requireOperon(ctx context.Context, p *action.Project, tree *worktree.Tree) error {
	known, err := scaffold.HasModule(tree, scaffold.OperonModule)
	if err != nil {
		return err
	}
	if !known {
		if strings.HasSuffix(p.Version, "-dev") {
			return diag.Finding{
				Position: diag.Position{File: "go.mod"},
				Problem:  "the code for kinds with charts requires " + scaffold.OperonModule + ", and this program is a development build, whose version is not published",
				Fix:      "'go mod edit -replace " + scaffold.OperonModule + "=DIR' with the directory of its source, or use a release",
			}
		}
		if err := scaffold.AddRequirement(tree, scaffold.OperonModule, p.Version); err != nil {
			return err
		}
	}
	if err := tidyModules(ctx, p, tree); err != nil {
		return err
	}
	findings, err := scaffold.CheckGoImage(tree)
	if err != nil {
		return err
	}
	p.ReportFindings(diag.Warning, findings...)
	return nil
}

// DropCharts removes what a Go project needed for kinds with charts after the last one: the module and the lines of the image.
func DropCharts(ctx context.Context, p *action.Project, tree *worktree.Tree) error {
	scaffold.RemoveChartsFromImage(tree)
	return tidyModules(ctx, p, tree)
}

// tidyModules runs go mod tidy, and updates the vendor directory if there is one.
func tidyModules(ctx context.Context, p *action.Project, tree *worktree.Tree) error {
	if err := p.Go.Tidy(ctx, tree); err != nil {
		return err
	}
	return p.Vendor(ctx, tree)
}
