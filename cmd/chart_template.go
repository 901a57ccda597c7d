package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action/chart"
	"github.com/operon-sdk/operon/pkg/helmchart"
)

func newChartTemplate(a *app) *cobra.Command {
	var request helmchart.TemplateRequest
	var values chartValues
	c := &cobra.Command{
		Use:   "template [DIR|ARCHIVE]",
		Short: "Print the manifests that a Helm chart renders",
		Long: `Print the manifests of the operator's chart, or of the chart in a directory or archive, as 'helm
template' does: in the order of installation, each with the template that it is from, and hooks at
the end. No cluster is asked: .Capabilities has the APIs of Kubernetes alone.`,
		Example: fmt.Sprintf(`  %[1]s chart template --name memcached-operator --namespace memcached-operator-system

  # One template, with other values:
  %[1]s chart template --show-only templates/manager/manager.yaml --set manager.replicas=2

  # For an older version of Kubernetes with cert-manager:
  %[1]s chart template --kube-version 1.33 --api-versions cert-manager.io/v1`, a.program),
		Args: oneChart,
		RunE: func(c *cobra.Command, args []string) error {
			if request.KubeVersion != "" {
				if err := chart.CheckKubeVersions("--kube-version", request.KubeVersion).Err(); err != nil {
					return err
				}
			}
			var err error
			if request.Values, err = values.read(a); err != nil {
				return err
			}
			src, err := a.chartSource(c.Context(), args)
			if err != nil {
				return err
			}
			request.Files = src.Files
			answer, err := a.charts().Template(c.Context(), request)
			if err != nil {
				return fmt.Errorf("%s: %w", src.Name, err)
			}
			_, err = fmt.Fprint(a.print.TextOut(), answer.Manifests)
			return err
		},
	}
	f := c.Flags()
	a.addChartOffline(f)
	values.addTo(f)
	f.StringVar(&request.ReleaseName, "name", "release-name", "`name` of the release")
	f.StringVarP(&request.Namespace, "namespace", "n", "default", "`namespace` of the release")
	f.StringArrayVarP(&request.ShowOnly, "show-only", "s", nil, "`pattern` of the templates to print, relative to the chart")
	f.StringVar(&request.KubeVersion, "kube-version", "", "`version` of Kubernetes in .Capabilities (default: the newest that is known)")
	f.StringSliceVarP(&request.APIVersions, "api-versions", "a", nil, "comma-separated API `versions` to add to .Capabilities")
	f.BoolVar(&request.IncludeCRDs, "include-crds", false, "print the CRDs in crds, too")
	f.BoolVar(&request.NoHooks, "no-hooks", false, "leave hooks out")
	return c
}
