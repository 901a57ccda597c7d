package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCreate(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "create",
		Short: "Add an API or webhooks to the project",
		Example: fmt.Sprintf(`  %[1]s create api --group cache --version v1alpha1 --kind Memcached --resource --controller
  %[1]s create webhook --group cache --version v1alpha1 --kind Memcached --defaulting`, a.program),
		Args: noArgs,
		RunE: showHelp,
	}
	c.AddCommand(newCreateAPI(a), newCreateWebhook(a))
	return c
}
