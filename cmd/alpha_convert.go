package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/upgrade"
)

func newConvertAlpha(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "config-3alpha-to-3",
		Short: "Convert a PROJECT file of version 3-alpha to version 3",
		Long: `Convert a PROJECT file that operator-sdk 1.0 to 1.2 created to version 3. What the old format
doesn't record is read from the code: which resources have a controller, which are namespaced, and
which webhooks they have. Nothing else changes, and a file of version 3 stays as it is.`,
		Example: fmt.Sprintf(`  %[1]s alpha config-3alpha-to-3 --dry-run
  %[1]s alpha config-3alpha-to-3`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) { return upgrade.ConvertAlpha(c.Context(), p) })
		},
	}
}
