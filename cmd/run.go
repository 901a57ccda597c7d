package cmd

import (
	"github.com/spf13/cobra"
)

func newRun(a *app) *cobra.Command {
	c := a.commandGroup("run", "Run the project locally, or a bundle with OLM", "  %[1]s run local --samples\n  %[1]s run bundle ./bundle",
		newRunLocal(a), newRunBundle(a), newRunBundleUpgrade(a), newRunPackageManifests(a))
	addOldRun(a, c)
	return c
}
