package cmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

func newAlpha(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "alpha",
		Short:   "Re-create a project, or convert an old PROJECT file",
		Example: fmt.Sprintf("  %[1]s alpha generate --output-dir ../fresh\n  %[1]s alpha config-3alpha-to-3", a.program),
		Args:    noArgs,
		RunE:    showHelp,
	}
	c.AddCommand(newAlphaGenerate(a), newConvertAlpha(a))
	return c
}

// alphaGenerateOptions are the flags of alpha generate.
type alphaGenerateOptions struct {
	input, output string
}

func newAlphaGenerate(a *app) *cobra.Command {
	var o alphaGenerateOptions
	c := &cobra.Command{
		Use:   "generate",
		Short: "Re-create a project from PROJECT in a new directory",
		Long: fmt.Sprintf(`Scaffold what the PROJECT file of a project records in a new directory, with the current templates:
init, every API with its controllers, and every webhook. Your code is not copied; the directory
shows the plain scaffold. The project itself does not change, and may have an older layout.

To upgrade a project together with your code, use '%[1]s upgrade'.`, a.program),
		Example: fmt.Sprintf(`  # Re-create this project:
  %[1]s alpha generate --output-dir ../fresh

  # Re-create another project:
  %[1]s alpha generate --input-dir ../memcached-operator --output-dir fresh`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runAlphaGenerate(c, o) },
	}
	f := c.Flags()
	a.addOffline(f)
	f.StringVar(&o.input, "input-dir", "", "`directory` of the project (default: the current directory)")
	f.StringVar(&o.output, "output-dir", "", "`directory` to write to, new or empty (required)")
	a.addPlugins(f, "`layout` of the project; only go/v4 is supported")
	a.addProjectVersion(f)
	completeValues(c, "plugins", "go/v4")
	completeValues(c, "project-version", project.ProjectVersion)
	return c
}

func (a *app) runAlphaGenerate(c *cobra.Command, o alphaGenerateOptions) error {
	plugins, findings := project.CheckPlugins(a.plugins)
	if plugins.DeployImage {
		findings = append(findings, project.Finding{Field: "--plugins", Value: "deploy-image/v1-alpha", Problem: "follows from PROJECT; leave it out"})
	}
	findings = append(findings, project.CheckProjectVersion(a.projectVersion)...)
	if o.output == "" {
		findings = append(findings, project.Finding{Field: "--output-dir", Problem: "is required: the new directory to write to"})
	}
	if err := findings.Err(); err != nil {
		return err
	}
	if ok, err := afero.DirExists(a.FS, a.absolute(o.input)); err != nil || !ok {
		return project.Findings{{Field: "--input-dir", Value: filepath.ToSlash(o.input), Problem: "no such directory"}}
	}
	root, err := project.FindRoot(a.FS, a.absolute(o.input))
	if err != nil {
		return err
	}
	source := worktree.NewTree(a.FS, root)
	config, err := loadAnyProject(source)
	if err != nil {
		return err
	}
	// The project's own files move in memory only; what counts is where the configuration has them then.
	if _, err := refactor.MoveToV4(source, config); err != nil {
		return err
	}
	header, err := a.boilerplate(source)
	if err != nil {
		return err
	}
	output := filepath.Clean(a.absolute(o.output))
	if err := a.checkEmpty(output, o.output); err != nil {
		return err
	}
	if !a.dryRun {
		if err := a.FS.MkdirAll(output, 0o755); err != nil {
			return fmt.Errorf("making %s: %w", filepath.ToSlash(o.output), reason(err))
		}
	}
	return a.apply(c.Context(), output, func(tree *worktree.Tree) error {
		return a.generateAnew(c.Context(), tree, config, header)
	})
}

// checkEmpty refuses a folder that holds anything.
func (a *app) checkEmpty(dir, given string) error {
	info, err := a.FS.Stat(dir)
	if err != nil {
		return nil // it is made, which tells what is wrong
	}
	problem := "is no folder"
	if info.IsDir() {
		names, err := afero.ReadDir(a.FS, dir)
		if err != nil {
			return fmt.Errorf("reading %s: %w", filepath.ToSlash(given), reason(err))
		}
		if len(names) == 0 {
			return nil
		}
		problem = "holds something; name a new folder or an empty one"
	}
	return project.Findings{{Field: "--output-dir", Value: filepath.ToSlash(given), Problem: problem}}
}

// generateAnew writes a project into an empty tree by its configuration.
func (a *app) generateAnew(ctx context.Context, tree *worktree.Tree, config *project.Config, header string) error {
	if err := a.rescaffold(tree, config, header, true); err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	for _, r := range config.Resources() {
		if _, err := a.at(tree.Root()).RequireModules(ctx, tree, r, r.Module, true); err != nil {
			return err
		}
	}
	if _, err := scaffold.UpdateRequirements(tree); err != nil {
		return err
	}
	return a.generate(ctx, tree, codegen.All)
}
