package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newDelete(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "delete",
		Short:   "Take an API out of the project",
		Example: fmt.Sprintf("  %s delete api --group cache --version v1alpha1 --kind Memcached", a.program),
		Args:    noArgs,
		RunE:    showHelp,
	}
	c.AddCommand(newDeleteAPI(a))
	return c
}
