package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

func newRenameProject(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "project NAME",
		Short: "Rename the project",
		Long: `Rename the project: PROJECT, the namespace and name prefix of its deployment, labels, the base of
its bundle, image names, markers with the namespace, and the end-to-end tests.

Objects deployed under the old name remain in the cluster: undeploy them first.`,
		Example: fmt.Sprintf(`  %[1]s rename project cachet-operator

  # Show what would change:
  %[1]s rename project cachet-operator --dry-run`, a.program),
		Args: oneName("NAME, the new name"),
		RunE: func(c *cobra.Command, args []string) error {
			name := args[0]
			return a.runRename(c, renaming{
				check:   func(_ *worktree.Tree, config *project.Config) error { return checkNewProject(config, name) },
				change:  func(config *project.Config) error { return config.SetProjectName(name) },
				bundled: true,
				notes: []string{
					"what is deployed in clusters keeps the old name and namespace; undeploy it with the old code before you deploy again",
				},
			})
		},
	}
	a.addOffline(c.Flags())
	a.addOutput(c, textOutput, jsonOutput)
	return c
}

func checkNewProject(config *project.Config, name string) error {
	findings := project.CheckProjectName(name)
	for i := range findings {
		findings[i].Field = "NAME"
	}
	if name == config.ProjectName() {
		findings = append(findings, project.Finding{Field: "NAME", Value: name, Problem: "is the project's name already"})
	}
	return findings.Err()
}
