package cmd

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/scorecard"
)

// newScorecardTest returns the command of images with the built-in tests. It tests the bundle at /bundle and prints the result for the
// scorecard, which reads the log of the pod.
func newScorecardTest(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     scorecard.Program + " TEST",
		Short:   "Run a built-in test in a pod of scorecard",
		Example: fmt.Sprintf("  %s %s basic-check-spec", a.program, scorecard.Program),
		Hidden:  true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(c, "%s takes the name of one test", c.CommandPath())
			}
			bundle := scorecard.Bundle{FS: afero.NewIOFS(afero.NewBasePathFs(a.FS, scorecard.PodBundle)), Name: scorecard.PodBundle}
			data, err := json.MarshalIndent(scorecard.BuiltIn(bundle, args[0]), "", "    ")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Out, "%s\n", data)
			return err
		},
	}
}
