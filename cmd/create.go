package cmd

import "github.com/spf13/cobra"

func newCreate(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "create",
		Short: "Add an API to the project",
		Args:  noArgs,
		RunE:  showHelp,
	}
	c.AddCommand(newCreateAPI(a))
	return c
}
