package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/rename"
)

func newRenameProject(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "project NAME",
		Short: "Rename the project",
		Long: `Rename the project: PROJECT, the namespace and name prefix of its deployment, labels, the base of
its bundle, image names, markers with the namespace, and the end-to-end tests.

Objects that are deployed under the old name stay in the cluster: undeploy them first.`,
		Example: fmt.Sprintf(`  %[1]s rename project cachet-operator

  # Show what would change:
  %[1]s rename project cachet-operator --dry-run`, a.program),
		Args: oneArgument("NAME, the new name"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) { return rename.Project(c.Context(), p, args[0]) })
		},
	}
	a.addOffline(c.Flags())
	a.addOutput(c, output.Text, output.JSON)
	return c
}
