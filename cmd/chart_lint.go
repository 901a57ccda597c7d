package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action/chart"
)

func newChartLint(a *app) *cobra.Command {
	var o chart.LintOptions
	var values chartValues
	c := &cobra.Command{
		Use:   "lint [DIR|ARCHIVE]",
		Short: "Find problems of a Helm chart and of its objects",
		Long: `Check the operator's chart, or the chart in a directory or archive, as 'helm lint' does, and then the
objects that it renders. They are compared with the kinds and fields of three Kubernetes versions,
or of the versions in --kube-version: removed and deprecated APIs, unknown fields, and values of the
wrong type are reported. Custom resources are left out.

--values and --set override the chart's default values. In .Capabilities, templates find the
Kubernetes version and the APIs of common operators.

The exit code is 1 if there are errors; warnings count only with --strict.`,
		Example: fmt.Sprintf(`  # The operator's chart, with warnings treated as errors:
  %[1]s chart lint --strict

  # With other values, for one version of Kubernetes:
  %[1]s chart lint --values ci/values.yaml --set metrics.enabled=false --kube-version 1.35

  # Another chart, as SARIF for the code host:
  %[1]s chart lint helm-charts/redis -o sarif > chart.sarif`, a.program),
		Args: oneChart,
		RunE: func(c *cobra.Command, args []string) error {
			err := chart.CheckKubeVersions("--kube-version", o.KubeVersions...).Err()
			if err != nil {
				return err
			}
			if o.Values, err = values.read(a); err != nil {
				return err
			}
			src, err := a.chartSource(c.Context(), args)
			if err != nil {
				return err
			}
			return a.lintChart(c.Context(), src, o, true)
		},
	}
	f := c.Flags()
	a.addChartOffline(f)
	a.addOutput(c, output.Text, output.JSON, output.SARIF)
	values.addTo(f)
	f.StringVarP(&o.Namespace, "namespace", "n", "default", "`namespace` of the release")
	f.StringSliceVar(&o.KubeVersions, "kube-version", nil, "comma-separated `versions` of Kubernetes to check for (default: the newest three that are known)")
	f.BoolVar(&o.Strict, "strict", false, "treat warnings as errors")
	return c
}

// lintChart checks a chart, and prints warnings. The error has the other findings. With report, it says what was checked.
func (a *app) lintChart(ctx context.Context, src *chart.Source, o chart.LintOptions, report bool) error {
	found, err := chart.Lint(ctx, a.charts(), src, o)
	if err != nil {
		return err
	}
	a.print.Warn(found.Warnings...)
	for _, note := range found.Notes {
		a.print.Verbosef("note: %s", note.Error())
	}
	if len(found.Errors) > 0 {
		return found.Errors
	}
	if report {
		a.print.Progressf("%s: no errors with Kubernetes %s", src.Name, strings.Join(found.KubeVersions, ", "))
	}
	return nil
}
