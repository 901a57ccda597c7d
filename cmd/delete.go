package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newDelete(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "delete",
		Short: "Delete an API or webhooks from the project",
		Example: fmt.Sprintf(`  %[1]s delete api --group cache --version v1alpha1 --kind Memcached
  %[1]s delete webhook --group cache --version v1alpha1 --kind Memcached`, a.program),
		Args: noArgs,
		RunE: showHelp,
	}
	c.AddCommand(newDeleteAPI(a), newDeleteWebhook(a))
	return c
}
