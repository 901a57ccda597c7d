package cmd

import (
	"github.com/spf13/cobra"
)

func newDelete(a *app) *cobra.Command {
	return a.commandGroup("delete", "Delete an API or webhooks from the project",
		`  %[1]s delete api --group cache --version v1alpha1 --kind Memcached
  %[1]s delete webhook --group cache --version v1alpha1 --kind Memcached`, newDeleteAPI(a), newDeleteWebhook(a))
}
