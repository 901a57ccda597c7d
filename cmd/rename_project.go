package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

func newRenameProject(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "project NAME",
		Short: "Give the project another name",
		Long: `Change the project's name: PROJECT, the namespace and name prefix that it is deployed with, labels,
the base of its bundle, image names, markers with the namespace, and the end-to-end tests.

What runs in a cluster under the old name stays there: undeploy it first.`,
		Example: fmt.Sprintf(`  %[1]s rename project cachet-operator

  # See what would change:
  %[1]s rename project cachet-operator --dry-run`, a.program),
		Args: oneName("NAME, the new name"),
		RunE: func(c *cobra.Command, args []string) error {
			name := args[0]
			return a.runRename(c, renaming{
				check:   func(_ *scaffold.Tree, config *project.Config) error { return checkNewProject(config, name) },
				change:  func(config *project.Config) error { return config.SetProjectName(name) },
				bundled: true,
				notes: []string{
					"what is deployed in clusters keeps the old name and namespace; undeploy it with the old code before you deploy again",
				},
			})
		},
	}
	a.addOffline(c.Flags())
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
