package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/helmchart/source"
)

// newChart returns the commands that operon calls to read charts. They are not an interface for users.
func newChart(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:    "chart",
		Short:  "Read Helm charts for operon",
		Hidden: true,
		Args:   noArgs,
		RunE:   func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:   "render",
		Short: "Render the chart of a request on stdin",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var request helmchart.RenderRequest
			if err := readRequest(s.in, &request); err != nil {
				return err
			}
			answer, err := source.Render(c.Context(), request)
			if err != nil {
				return err
			}
			return json.NewEncoder(s.out).Encode(answer)
		},
	})
	return c
}
