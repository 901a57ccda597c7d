package cmd

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/helmkinds"
	"github.com/operon-sdk/operon/pkg/diag"
)

func newChartImages(a *app) *cobra.Command {
	var o helmkinds.ImagesOptions
	format, related := "", false
	c := &cobra.Command{
		Use:   "images",
		Short: "List the images of Helm charts, or make them related images",
		Long: `List the images of the charts in watches.yaml, with the values that set them. To find them, Operon
renders each chart with different images; a value counts if it can set an image to any reference,
with a tag or a digest. Containers with other images are listed too.

With --related, environment variables of the manager set the images: RELATED_IMAGE_ variables in
config/manager/manager.yaml, and overrideValues in watches.yaml that refer to them. 'bundle' lists
such images as related images, which mirrors of disconnected clusters copy, and 'bundle
--use-image-digests' replaces their tags with digests. 'generate' updates the variables when the
chart changes. Existing overrides, and variables with an image from another repository, are kept.`,
		Example: fmt.Sprintf("  %[1]s chart images\n  %[1]s chart images --related --kind Memcached", a.program),
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if related {
				if format != "" {
					return diag.Findings{{Field: "-o", Value: format, Problem: "cannot be combined with --related"}}
				}
				return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) { return helmkinds.RelateImages(c.Context(), p, o) })
			}
			list := func(p *action.Project) ([]helmkinds.ChartImages, error) {
				return helmkinds.ListImages(c.Context(), p, o)
			}
			return printList(a, format, list, printImages)
		},
	}
	f := c.Flags()
	f.BoolVar(&related, "related", false, "set the images with RELATED_IMAGE_ variables of the manager")
	f.StringVar(&o.Kind, "kind", "", "`kind` whose chart is examined (default: all)")
	choiceVar(c, &format, "output", "o", "", "output format (default: a table)", "json", "yaml")
	return c
}

// printImages prints images as a table.
func printImages(p *output.Printer, charts []helmkinds.ChartImages) error {
	table := tabwriter.NewWriter(p.TextOut(), 0, 4, 3, ' ', 0)
	fmt.Fprintln(table, "KIND\tVALUE\tIMAGE\tRELATED")
	for _, chart := range charts {
		for _, image := range chart.Images {
			variable := "-"
			if image.Related {
				variable = image.Variable
			}
			fmt.Fprintln(table, output.Row(chart.Kind, image.Path, image.Default, variable))
		}
		for _, ref := range chart.Left {
			fmt.Fprintln(table, output.Row(chart.Kind, "-", ref, "-"))
		}
	}
	return table.Flush()
}
