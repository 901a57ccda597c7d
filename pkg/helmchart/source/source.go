// Package source fetches and renders charts with Helm's library, for the program operon-runtime.
//
// A chart from another machine is untrusted input: its size, its number of files and its paths are limited, and nothing of
// it is written outside a temporary directory. Rendering a chart uses no network and no cluster.
package source

import (
	"errors"
	"fmt"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// The limits of a chart with its dependencies.
const (
	// maxBytes is the size of the files, as in Helm.
	maxBytes = 100 << 20
	// maxFiles is the number of files, directories and other entries.
	maxFiles = 20_000
	// maxDownload is the size of an archive.
	maxDownload = 100 << 20
	// maxIndex is the size of the index of a repository; the largest public ones have 25 MiB.
	maxIndex = 50 << 20
	// maxDepth is the number of nested dependencies.
	maxDepth = 10
)

// kubernetesVersion is the version that templates find in .Capabilities.KubeVersion: the version of Operon's Kubernetes libraries.
const kubernetesVersion = "v1.37.2"

// A budget limits what is read for one chart.
type budget struct {
	bytes int64
	files int
}

func newBudget() *budget { return &budget{bytes: maxBytes, files: maxFiles} }

// spend counts a file of size bytes.
func (b *budget) spend(size int64) error {
	if b.files--; b.files < 0 {
		return fmt.Errorf("the chart has more than %d files", maxFiles)
	}
	if b.bytes -= size; b.bytes < 0 {
		return fmt.Errorf("the chart is larger than %d MiB", maxBytes>>20)
	}
	return nil
}

// metadata returns the fields of Chart.yaml that operon needs.
func metadata(c *chart.Chart) helmchart.Metadata {
	m := c.Metadata
	return helmchart.Metadata{
		Name: m.Name, Version: m.Version, AppVersion: m.AppVersion, Description: m.Description, KubeVersion: m.KubeVersion,
	}
}

func checkInstallable(c *chart.Chart) error {
	if c.Metadata.Type == "library" {
		return fmt.Errorf("Chart.yaml: chart %q is a library chart, which has no objects of its own; use a chart of type application", c.Name()) //nolint:staticcheck // a file name
	}
	if c.Metadata.Name == "" {
		return errors.New("Chart.yaml: name is required") //nolint:staticcheck // a file name
	}
	return nil
}
