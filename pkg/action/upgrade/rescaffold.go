package upgrade

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// goRescaffold is the reason why Go projects with charts are not scaffolded again.
const goRescaffold = "projects with charts cannot be scaffolded again yet; scaffold the Go kinds alone, and add the charts with 'operon create api --helm-chart'"

// RescaffoldOptions are the options of Rescaffold.
type RescaffoldOptions struct {
	// InputDir is in the project; empty means Config.Dir.
	InputDir string
	// OutputDir is a new or empty directory.
	OutputDir string
	Plugins   project.Plugins
	// ProjectVersion is the version of PROJECT.
	ProjectVersion string
}

// Rescaffold creates a project in a new directory with the current templates, from PROJECT of another one.
func Rescaffold(ctx context.Context, config action.Config, o RescaffoldOptions) (*action.Result, error) {
	findings := o.Plugins.CheckKinds()
	if o.Plugins.WithoutGo() {
		findings.Add("--plugins", o.Plugins.String(), "is for projects without Go code; only Go projects are scaffolded again")
	}
	if o.Plugins.DeployImage {
		findings.Add("--plugins", "deploy-image/v1-alpha", "follows from PROJECT; leave it out")
	}
	findings = append(findings, project.CheckProjectVersion(o.ProjectVersion)...)
	if o.OutputDir == "" {
		findings.Add("--output-dir", "", "is required: the new directory to write to")
	}
	if err := findings.Err(); err != nil {
		return nil, err
	}
	input, output := config.Absolute(o.InputDir), config.Absolute(o.OutputDir)
	if ok, err := afero.DirExists(config.FS, input); err != nil || !ok {
		return nil, diag.Findings{{Field: "--input-dir", Value: filepath.ToSlash(o.InputDir), Problem: "no such directory"}}
	}
	root, err := project.FindRoot(config.FS, input)
	if err != nil {
		return nil, err
	}
	source := action.Read(config, root)
	if err := source.Refuse(func(f *layout.Facts) string { return f.NoRescaffold }); err != nil {
		return nil, err
	}
	tree := source.Files
	recorded, err := source.LoadFrom(tree, action.UpgradableLayouts)
	if err != nil {
		return nil, err
	}
	if recorded.HasCharts() {
		return nil, diag.Finding{Position: diag.Position{File: project.FileName}, Problem: goRescaffold}
	}
	// The files of the project move in memory only, to where the current layout has the header.
	if _, err := refactor.MoveToV4(tree, recorded); err != nil {
		return nil, err
	}
	header, _, err := source.Header(tree)
	if err != nil {
		return nil, err
	}
	if err := checkEmpty(&config, output, o.OutputDir); err != nil {
		return nil, err
	}
	if !config.DryRun {
		if err := config.FS.MkdirAll(output, 0o755); err != nil {
			return nil, fmt.Errorf("making %s: %w", filepath.ToSlash(o.OutputDir), diag.Cause(err))
		}
	}
	p, err := action.Open(ctx, config, output)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Update(ctx, func(tree *worktree.Tree) error { return applyRescaffold(ctx, p, tree, recorded, header) })
}

// checkEmpty fails if a directory contains anything, or is a file.
func checkEmpty(c *action.Config, dir, given string) error {
	info, err := c.FS.Stat(dir)
	if err != nil {
		return nil // creating it returns the problem
	}
	problem := "is not a directory"
	if info.IsDir() {
		names, err := afero.ReadDir(c.FS, dir)
		if err != nil {
			return fmt.Errorf("reading %s: %w", filepath.ToSlash(given), diag.Cause(err))
		}
		if len(names) == 0 {
			return nil
		}
		problem = "is not empty; pass a new or an empty directory"
	}
	return diag.Findings{{Field: "--output-dir", Value: filepath.ToSlash(given), Problem: problem}}
}

// applyRescaffold writes a project, including generated files, into an empty tree.
func applyRescaffold(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, header string) error {
	if err := scaffoldAll(p, tree, config, header, true); err != nil {
		return err
	}
	if err := p.AddPlugins(tree, config, config.OptionalPlugins()); err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	for _, r := range config.Resources() {
		if _, err := p.RequireModules(ctx, tree, r, r.Module, true); err != nil {
			return err
		}
	}
	if _, err := scaffold.UpdateRequirements(tree); err != nil {
		return err
	}
	return p.GenerateIn(ctx, tree, codegen.All)
}
