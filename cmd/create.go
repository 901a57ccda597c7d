package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCreate(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "create",
		Short:   "Add an API to the project",
		Example: fmt.Sprintf("  %s create api --group cache --version v1alpha1 --kind Memcached --resource --controller", a.program),
		Args:    noArgs,
		RunE:    showHelp,
	}
	c.AddCommand(newCreateAPI(a))
	return c
}
