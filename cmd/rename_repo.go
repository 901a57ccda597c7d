package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

func newRenameRepo(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "repo MODULE",
		Short: "Change the path of the project's Go module",
		Long: `Change the module path: go.mod, imports, PROJECT, and the other files that name packages of the
module. The code must compile before and after the change.

The leader election lock of managers is named after the module. A manager from before the change and
one from after it would both lead: stop the old one first.`,
		Example: fmt.Sprintf(`  %[1]s rename repo github.com/example/cachet-operator

  # Show what would change:
  %[1]s rename repo github.com/example/cachet-operator --dry-run`, a.program),
		Args: oneName("MODULE, the new module path"),
		RunE: func(c *cobra.Command, args []string) error {
			repo := args[0]
			return a.runRename(c, renaming{
				check:  func(tree *worktree.Tree, config *project.Config) error { return checkNewRepo(tree, config, repo) },
				change: func(config *project.Config) error { return config.SetRepo(repo) },
				notes: []string{
					"managers of before and after the change do not see each other's leader election; stop the old one before the new one starts",
				},
			})
		},
	}
	a.addOffline(c.Flags())
	a.addOutput(c, textOutput, jsonOutput)
	return c
}

// oneName wants one argument.
func oneName(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch len(args) {
		case 1:
			return nil
		case 0:
			return usagef(c, "%s is missing", what)
		}
		return usagef(c, "one name is enough, got %d", len(args))
	}
}

// checkNewRepo validates a module path for a project.
func checkNewRepo(tree *worktree.Tree, config *project.Config, repo string) error {
	findings := project.CheckRepo(repo)
	for i := range findings {
		findings[i].Field = "MODULE"
	}
	data, err := tree.ReadFile("go.mod")
	if err != nil {
		return fmt.Errorf("reading go.mod: %w", reason(err))
	}
	mod, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return &scaffold.ContentError{Err: fmt.Errorf("%w; correct it and run the command again", err)}
	}
	add := func(problem string) {
		findings = append(findings, project.Finding{Field: "MODULE", Value: repo, Problem: problem})
	}
	if mod.Module == nil {
		add("cannot replace the module path of go.mod, which has no module line; add one with the project's import path")
	}
	if repo == config.Repo() {
		add("is the module path already")
	}
	for _, r := range mod.Require {
		if r.Mod.Path == repo {
			add("is a module that go.mod requires")
		}
	}
	return findings.Err()
}
