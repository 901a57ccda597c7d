package chart

import (
	"context"
	"errors"
	"path"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/operatorchart"
	"github.com/operon-sdk/operon/pkg/project"
)

// chartFile is the file that makes a directory a chart.
const chartFile = "Chart.yaml"

// ErrNoChart means that the project has no chart of the operator.
var ErrNoChart = errors.New("the project has no chart of the operator")

// Dir returns the directory of the operator's chart, relative to the root of the project.
func Dir(p *action.Project) (string, error) {
	config, err := p.Load(action.AnyLayout)
	if err != nil {
		return "", err
	}
	place, _ := config.OperatorChart()
	dir := place.Dir()
	if p.Files.Exists(path.Join(dir, chartFile)) {
		return dir, nil
	}
	charts, err := afero.Glob(p.FS, filepath.Join(p.Root, project.ChartsDir, "*", chartFile))
	if err != nil {
		return "", err
	}
	fix := "'" + p.Program + " edit --plugins helm/v2-alpha' adds one"
	if len(charts) > 0 {
		var names []string
		for _, file := range charts {
			names = append(names, project.ChartsDir+"/"+filepath.Base(filepath.Dir(file)))
		}
		fix += ", or name one of the charts that the operator installs: " + diag.Enumerate(names)
	}
	return "", diag.WithFix(ErrNoChart, fix)
}

// A Source is a chart to check, render or publish.
type Source struct {
	// Name is the directory or the archive in messages.
	Name     string
	Files    helmchart.Files
	Metadata helmchart.Metadata
	// Warnings are problems that didn't keep the chart from being read.
	Warnings []string
}

// Open reads a chart and its dependencies, which are fetched if charts/ doesn't have them. location is a directory or an archive as a path
// for the runtime, and name the same for messages.
func Open(ctx context.Context, charts helmchart.Runtime, location, name string, offline bool) (*Source, error) {
	answer, err := charts.Fetch(ctx, helmchart.FetchRequest{Chart: location, Library: true, Offline: offline})
	if err != nil {
		return nil, err
	}
	files := operatorchart.Files(answer.Files)
	if err := conflicts(name, files); err != nil {
		return nil, err
	}
	return &Source{Name: name, Files: answer.Files, Metadata: answer.Chart, Warnings: answer.Warnings}, nil
}
