package gokinds

import (
	"context"
	"slices"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// describeTypes reads the Go types of the project's kinds.
func describeTypes(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, dir string) ([]base.Kind, []codegen.API, error) {
	resources := slices.DeleteFunc(config.Resources(), config.IsChart)
	if len(resources) == 0 {
		return nil, nil, nil
	}
	if !tree.Exists(dir) {
		p.Reportf(diag.Warning, "directory %s not found, so the base does not describe the project's kinds; pass another one with --apis-dir", dir)
		return nil, nil, nil
	}
	apis, warnings, err := codegen.APIs(ctx, codegen.APIOptions{Root: tree.Root(), Overlay: tree.Edits(), Dir: dir, Env: p.Environ})
	if err != nil {
		return nil, nil, err
	}
	p.ReportFindings(diag.Warning, warnings...)
	var kinds []base.Kind
	for _, r := range resources {
		kind := base.Kind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind}
		if slices.Contains(kinds, kind) {
			continue // two tools may have written the same kind
		}
		// The types of kinds with only a controller are in another module.
		if r.API != nil || slices.ContainsFunc(apis, func(api codegen.API) bool { return base.KindOf(api) == kind }) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, apis, nil
}
