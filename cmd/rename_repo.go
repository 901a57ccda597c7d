package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/rename"
)

func newRenameRepo(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "repo MODULE",
		Short: "Change the path of the project's Go module",
		Long: `Change the module path: go.mod, imports, PROJECT, and other files that name packages of the module.
The code must compile before and after the change.

The managers' leader election lock is named after the module, so a manager from before the change
and one from after it would both lead: stop the old one first.`,
		Example: fmt.Sprintf(`  %[1]s rename repo github.com/example/cachet-operator

  # Show what would change:
  %[1]s rename repo github.com/example/cachet-operator --dry-run`, a.program),
		Args: oneArgument("MODULE, the new module path"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) { return rename.Module(c.Context(), p, args[0]) })
		},
	}
	a.addOffline(c.Flags())
	a.addOutput(c, output.Text, output.JSON)
	return c
}
