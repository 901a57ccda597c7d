package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newRun(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "run",
		Short:   "Run the project locally, or a bundle with OLM",
		Example: fmt.Sprintf("  %[1]s run local --samples\n  %[1]s run bundle ./bundle", a.program),
		Args:    noArgs,
		RunE:    showHelp,
	}
	c.AddCommand(newRunLocal(a), newRunBundle(a), newRunBundleUpgrade(a), newRunPackageManifests(a))
	addOldRun(a, c)
	return c
}
