// Package source reads and renders charts with Helm's library, for the program operon-runtime.
package source

import (
	"context"
	"fmt"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	loader "helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// Render renders a chart with each set of values.
func Render(_ context.Context, request helmchart.RenderRequest) (*helmchart.RenderAnswer, error) {
	var files []*archive.BufferedFile
	for name, data := range request.Files {
		files = append(files, &archive.BufferedFile{Name: name, Data: data})
	}
	chart, err := loader.LoadFiles(files)
	if err != nil {
		return nil, fmt.Errorf("loading the chart: %w", err)
	}
	return &helmchart.RenderAnswer{Chart: helmchart.Metadata{Name: chart.Name()}}, nil
}
