package project

import (
	"cmp"
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// KeyOperatorChart is the plugin key of kubebuilder for the Helm chart that installs the operator, and keyOperatorChartV1 its older version,
// which had the chart in dist, too.
const (
	KeyOperatorChart   = "helm.kubebuilder.io/v2-alpha"
	keyOperatorChartV1 = "helm.kubebuilder.io/v1-alpha"
)

// The places of the operator's chart in a new project, as of kubebuilder.
const (
	// DefaultInstaller is the file with all manifests of the operator, which make build-installer writes.
	DefaultInstaller = "dist/install.yaml"
	// DefaultChartOutput is the directory that contains the directory chart.
	DefaultChartOutput = "dist"
)

// ChartRecords is the directory of the files that record what was generated for charts of the operator.
const ChartRecords = ".operon/bases/charts"

// ChartRecord returns the file that records what was generated for the chart in a directory.
func ChartRecord(dir string) string { return path.Join(ChartRecords, dir+".txtar") }

// An OperatorChart records where the Helm chart that installs the operator is made from and where it is, relative to the root.
type OperatorChart struct {
	// Manifests is a file, or DefaultInstaller for what config/default builds. Output is the directory that contains the directory chart.
	Manifests, Output string
}

// Dir returns the directory of the chart.
func (c OperatorChart) Dir() string { return path.Join(c.Output, "chart") }

// CRDsDir returns the directory of the chart with the CRDs, if that is separate.
func (c OperatorChart) CRDsDir() string { return path.Join(c.Output, "chart-crds") }

// OperatorChart returns the record of the operator's chart.
func (c *Config) OperatorChart() (chart OperatorChart, ok bool) {
	chart = OperatorChart{DefaultInstaller, DefaultChartOutput}
	for _, key := range []string{KeyOperatorChart, keyOperatorChartV1} {
		if entry := safeyaml.Child(c.root, "plugins", key); entry != nil {
			chart.Manifests = cmp.Or(textOf(safeyaml.Child(entry, "manifests")), chart.Manifests)
			chart.Output = cmp.Or(textOf(safeyaml.Child(entry, "output")), chart.Output)
			return chart, true
		}
		if slices.Contains(c.Layout(), key) { // kubebuilder's init records only the layout
			return chart, true
		}
	}
	return chart, false
}

// SetOperatorChart records the operator's chart, in the entry of kubebuilder's plugin.
func (c *Config) SetOperatorChart(chart OperatorChart) error {
	if c.HasPlugin(keyOperatorChartV1) {
		if err := c.setPlugin(keyOperatorChartV1, nil); err != nil {
			return err
		}
	}
	return c.setPlugin(KeyOperatorChart, map[string]any{"manifests": chart.Manifests, "output": chart.Output})
}
