package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newRun(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "run",
		Short:   "Run the project's operator",
		Example: fmt.Sprintf("  %s run local --samples", a.program),
		Args:    noArgs,
		RunE:    showHelp,
	}
	c.AddCommand(newRunLocal(a))
	return c
}
