package cmd

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/helmkinds"
)

func newChart(a *app) *cobra.Command {
	c := a.commandGroup("chart", "Check and publish charts, and update those in helm-charts",
		`  %[1]s chart lint --strict
  %[1]s chart package --destination dist
  %[1]s chart push oci://registry.example.com/charts`,
		newChartImages(a), newChartLint(a), newChartList(a), newChartPackage(a), newChartPush(a), newChartTemplate(a), newChartUpdate(a))
	c.Long = `Check, render, package and push the Helm chart that installs the operator, or any other chart. List
the charts that a Helm operator installs, in helm-charts, and update them from their sources.

'generate chart' writes the operator's chart.`
	return c
}

func newChartUpdate(a *app) *cobra.Command {
	var o helmkinds.UpdateOptions
	c := &cobra.Command{
		Use:   "update",
		Short: "Update a Helm chart and merge your edits",
		Long: `Fetch a newer version of a chart in helm-charts from the source that 'create api' used, and merge it
with your edits. The CRD, the manager's role and the sample are updated too, unless you edited the
sample.

PROJECT records each chart's source and version. The unchanged files of that version are fetched
again as the base of the merge. Files that you didn't edit are replaced. Templates are merged line
by line, other YAML by field and item. If you and the new version both set a value, yours wins, and
a note names it. Archives in charts and Chart.lock are replaced.

If both sides changed the same lines, the file contains both between conflict markers, and the
command lists such files and fails. --conflict chooses one side instead.

If the current version can't be fetched again, a chart without edits is replaced. With edits, the
command fails, unless --conflict theirs discards them.

For a chart that PROJECT doesn't record, such as one from operator-sdk, pass --helm-chart.`,
		Example: fmt.Sprintf(`  # Show what the newest version changes, then update:
  %[1]s chart update --dry-run
  %[1]s chart update

  # Select one of several charts, and a version:
  %[1]s chart update --chart redis --helm-chart-version 20.1.0

  # Continue with another source:
  %[1]s chart update --kind Redis --helm-chart oci://registry.example.com/charts/redis`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) { return helmkinds.UpdateChart(c.Context(), p, o) })
		},
	}
	f := c.Flags()
	a.addOffline(f)
	a.addOutput(c, output.Text, output.JSON)
	f.StringVar(&o.Chart, "chart", "", "`name` of the chart's directory in helm-charts (default: the only one)")
	f.StringVar(&o.Kind, "kind", "", "`kind` whose chart is updated, instead of --chart")
	f.StringVar(&o.Source, "helm-chart", "", "new source of the `chart`: a directory, an archive, a URL, an oci:// reference or a name (default: the recorded one)")
	f.StringVar(&o.Repo, "helm-chart-repo", "", "`URL` of the repository of --helm-chart")
	f.StringVar(&o.Version, "helm-chart-version", "", "`version` of the chart or a constraint (default: the newest)")
	choiceVar(c, &o.Conflict, "conflict", "", "", "side that decides conflicts: the project's lines (ours) or the new version's (theirs)", "ours", "theirs")
	return c
}

func newChartList(a *app) *cobra.Command {
	format := ""
	c := &cobra.Command{
		Use:   "list",
		Short: "List the Helm charts of the project",
		Long: `List the charts that watches.yaml refers to, with their kinds, versions and sources, and whether you
edited them.`,
		Example: fmt.Sprintf("  %[1]s chart list\n  %[1]s chart list -o json", a.program),
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			list := func(p *action.Project) ([]helmkinds.ChartStatus, error) { return helmkinds.ListCharts(p) }
			return printList(a, format, list, printCharts)
		},
	}
	choiceVar(c, &format, "output", "o", "", "output format (default: a table)", "json", "yaml")
	return c
}

// printList prints what an action reads from the project: in a format, json or yaml, or else as a table.
func printList[T any](a *app, format string, read func(*action.Project) (T, error), table func(*output.Printer, T) error) error {
	if err := checkChoice("-o", cmp.Or(format, "json"), "json", "yaml").Err(); err != nil {
		return err
	}
	root, err := a.intactProject()
	if err != nil {
		return err
	}
	list, err := read(a.at(root))
	if err != nil {
		return err
	}
	if format != "" {
		return a.print.Value(format, list)
	}
	return table(a.print, list)
}

// printCharts prints charts as a table.
func printCharts(p *output.Printer, charts []helmkinds.ChartStatus) error {
	if len(charts) == 0 {
		p.Progressf("the project has no charts")
		return nil
	}
	table := tabwriter.NewWriter(p.TextOut(), 0, 4, 3, ' ', 0)
	fmt.Fprintln(table, "NAME\tVERSION\tEDITED\tKINDS\tSOURCE")
	for _, chart := range charts {
		edited := "unknown"
		if chart.Edited != nil {
			edited = map[bool]string{true: "yes", false: "no"}[*chart.Edited]
		}
		source := cmp.Or(chart.Source, "-")
		if chart.Repo != "" {
			source = strings.TrimSuffix(chart.Repo, "/") + " " + source
		}
		fmt.Fprintln(table, output.Row(chart.Name, cmp.Or(chart.Version, "-"), edited, strings.Join(chart.Kinds, ","), source))
	}
	return table.Flush()
}
