package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/action/chart"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/project"
)

// oneChart accepts the directory or archive of one chart, or none.
func oneChart(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef(c, "%s takes one chart, but got %d arguments", c.CommandPath(), len(args))
	}
	return nil
}

// addChartOffline adds --offline for commands that read a chart.
func (a *app) addChartOffline(f *pflag.FlagSet) {
	f.BoolVar(&a.offline, "offline", false, "fail if dependencies of the chart are missing in charts, instead of fetching them")
}

// chartSource reads the chart in the first of args, or else the operator's.
func (a *app) chartSource(ctx context.Context, args []string) (*chart.Source, error) {
	location, name, err := a.chartPlace(args)
	if err != nil {
		return nil, err
	}
	src, err := chart.Open(ctx, a.charts(), location, name, a.offline)
	if err != nil {
		return nil, err
	}
	for _, warning := range src.Warnings {
		a.print.Warnf("%s: %s", name, warning)
	}
	return src, nil
}

// chartPlace returns the directory or archive of a chart, relative to the working directory, and its name in messages.
func (a *app) chartPlace(args []string) (location, name string, err error) {
	if len(args) > 0 {
		if _, err := a.FS.Stat(a.Absolute(args[0])); errors.Is(err, fs.ErrNotExist) {
			return "", "", diag.Usage(fmt.Errorf("%s: no such file or directory; '%s generate chart' writes a chart of the operator", args[0], a.program))
		} else if err != nil {
			return "", "", diag.Finding{Position: diag.Position{File: filepath.ToSlash(args[0])}, Problem: diag.Cause(err).Error()}
		}
		return args[0], filepath.ToSlash(filepath.Clean(args[0])), nil
	}
	root, err := a.intactProject()
	if errors.Is(err, project.ErrNotAProject) {
		return "", "", diag.Usage(fmt.Errorf("%w; name the directory or archive of a chart", err))
	}
	if err != nil {
		return "", "", err
	}
	if name, err = chart.Dir(a.at(root)); err != nil {
		return "", "", err
	}
	location = filepath.Join(root, filepath.FromSlash(name))
	if rel, err := filepath.Rel(a.Dir, location); err == nil {
		location = rel
	}
	return location, name, nil
}

// chartValues are the flags for values of a chart.
type chartValues struct{ files, set, setString []string }

func (o *chartValues) addTo(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.files, "values", "f", nil, "`file` with values; later ones override earlier ones")
	f.StringArrayVar(&o.set, "set", nil, "`key=value` pairs of values, separated by commas, as in a.b=1,c[0]=x")
	f.StringArrayVar(&o.setString, "set-string", nil, "`key=value` pairs whose values are strings")
}

// read reads the files of the flags.
func (o *chartValues) read(a *app) (helmchart.ValueOptions, error) {
	values := helmchart.ValueOptions{Set: o.set, SetString: o.setString}
	var findings diag.Findings
	for _, name := range o.files {
		text, err := afero.ReadFile(a.FS, a.Absolute(name))
		if err != nil {
			findings.Add("--values", name, diag.Cause(err).Error())
		}
		values.Files = append(values.Files, helmchart.ValuesFile{Name: filepath.ToSlash(name), Text: text})
	}
	return values, findings.Err()
}
