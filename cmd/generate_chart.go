package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/chart"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// addChartPlace adds the flags that say what the operator's chart is made from and where it is.
func addChartPlace(f *pflag.FlagSet, o *chart.Options) {
	addDirFlag(f, &o.OutputDir, "output-dir", project.DefaultChartOutput, "`directory` that contains the directory chart")
	f.StringVar(&o.Manifests, "manifests", "", "`file` with the operator's manifests to make the chart from (default: what config/default builds)")
}

// usedChartPlace returns findings about flags of the chart without the plugin.
func usedChartPlace(f *pflag.FlagSet) diag.Findings {
	var findings diag.Findings
	for _, name := range []string{"output-dir", "manifests"} {
		if f.Changed(name) {
			findings.Add("--"+name, f.Lookup(name).Value.String(), "requires --plugins helm/v2-alpha")
		}
	}
	return findings
}

func newGenerateChart(a *app) *cobra.Command {
	var o chart.Options
	var check, separate bool
	c := &cobra.Command{
		Use:   "chart",
		Short: "Generate a Helm chart that installs the operator",
		Long: `Generate a Helm chart that installs the operator, from what config/default builds. With the default
values, the chart installs the same objects. Values set what users of charts expect: image, replicas,
resources, scheduling, metrics, webhooks, certificates, the CRDs and more.

The chart is in dist/chart, or where an earlier command has put it; PROJECT records the place. You may
edit all of its files: your changes are merged with what changes in the manifests. If both changed the
same lines, the file contains both between conflict markers, and the command lists such files and
fails. --conflict chooses one side instead, and --force discards your changes to generated files.
.operon/bases/charts records what was generated; commit it with the chart.

A chart from kubebuilder's helm/v2-alpha plugin is continued: its values keep what you set, its
templates are replaced.

--separate-crds puts the CRDs into a chart of their own, chart-crds beside the other one: Helm can't
store releases of more than 1 MiB, and some users must not install CRDs themselves. Later calls keep
it; --separate-crds=false reverts it.`,
		Example: fmt.Sprintf(`  # After changing types, markers or manifests:
  %[1]s generate chart

  # In CI, fail if the chart is stale:
  %[1]s generate chart --check

  # The CRDs in a chart of their own, dist/chart-crds:
  %[1]s generate chart --separate-crds

  # In another directory, charts/chart:
  %[1]s generate chart --output-dir charts`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.SeparateCRDs = ifGiven(c, "separate-crds", &separate)
			config := a.actions()
			config.DryRun = config.DryRun || check
			return a.runInRoot(c.Context(), config, func(p *action.Project) error {
				result, err := chart.Generate(c.Context(), p, o)
				if check {
					return a.print.Checked(result, err, fmt.Sprintf("run '%s generate chart' and commit what it changes", a.program))
				}
				return a.print.Outcome(result, err)
			})
		},
	}
	f := c.Flags()
	a.addOutput(c, output.Text, output.JSON)
	addChartPlace(f, &o)
	f.BoolVar(&separate, "separate-crds", false, "put the CRDs into a chart of their own (default: as before)")
	f.BoolVar(&check, "check", false, "write nothing; exit with 1 and print a diff if the chart is stale (for CI)")
	f.BoolVar(&o.Force, "force", false, "replace files that you edited, and a chart that another program wrote")
	choiceVar(c, &o.Conflict, "conflict", "", "", "side that decides conflicts: your lines (ours) or the generated ones (theirs)", "ours", "theirs")
	return c
}
