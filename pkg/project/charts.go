package project

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A Chart records where a Helm chart of the project is from.
type Chart struct {
	// Name is the name of its directory in helm-charts.
	Name string
	// Source and Repo are the chart and the repository as given at its creation, without credentials. An empty source is
	// Helm's starter, or a path that depends on the machine. Relative paths are relative to the project.
	Source, Repo string
	// Version is the chart's version. Digest is its archive's digest: sha256:HEX.
	Version, Digest string
	// Files is the digest of its unchanged files.
	Files string
}

// chartsPath is the path of the list of charts.
func chartsPath() []any { return []any{"plugins", keyState, "charts"} }

// Charts returns the recorded charts in the order of the file.
func (c *Config) Charts() []Chart {
	var charts []Chart
	for _, item := range c.chartItems() {
		charts = append(charts, Chart{
			Name:   safeyaml.ChildText(item, "name"),
			Source: safeyaml.ChildText(item, "source"), Repo: safeyaml.ChildText(item, "repo"),
			Version: safeyaml.ChildText(item, "version"), Digest: safeyaml.ChildText(item, "digest"),
			Files: safeyaml.ChildText(item, "files"),
		})
	}
	return charts
}

func (c *Config) chartItems() []*yaml.Node {
	list := safeyaml.Child(c.state(), "charts")
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	return list.Content
}

// Chart returns the record of a chart.
func (c *Config) Chart(name string) (Chart, bool) {
	charts := c.Charts()
	if i := chartIndex(charts, name); i >= 0 {
		return charts[i], true
	}
	return Chart{}, false
}

func chartIndex(charts []Chart, name string) int {
	return slices.IndexFunc(charts, func(chart Chart) bool { return chart.Name == name })
}

// SetChart adds or replaces the record of a chart. Keys of the record that operon does not know are kept.
func (c *Config) SetChart(chart Chart) error {
	charts := c.Charts()
	i := chartIndex(charts, chart.Name)
	if i < 0 {
		i = len(charts)
	}
	path := join(chartsPath(), i)
	item, _ := c.get(path)
	for key, value := range map[string]string{
		"name": chart.Name, "source": chart.Source, "repo": chart.Repo, "version": chart.Version, "digest": chart.Digest, "files": chart.Files,
	} {
		item = with(item, []any{key}, textOrNil(value))
	}
	return c.atomically(func() error { return c.putDeep(path, item) })
}

// RemoveChart removes the record of a chart, if there is one.
func (c *Config) RemoveChart(name string) error {
	i := chartIndex(c.Charts(), name)
	if i < 0 {
		return nil
	}
	return c.put(join(chartsPath(), i), nil)
}

// IsChart reports whether the objects of a resource are Helm releases. This is so for all kinds of a Helm project, and in a Go
// project with charts for kinds that it defines without types. Older tools wrote Go kinds without a path, too.
func (c *Config) IsChart(r Resource) bool {
	return c.Facts().Charts || len(c.chartItems()) > 0 && r.HasAPI() && r.Path == "" && !r.Core && !r.External
}

// CompletePaths records the import paths of Go types, which older tools left out. Call it before the first chart of a Go project is
// recorded: then IsChart requires them.
func (c *Config) CompletePaths() error {
	for _, r := range c.Resources() {
		if r.HasAPI() && r.Path == "" && !r.Core && !r.External {
			r.Path = c.APIPath(r.Group, r.Version)
			if err := c.UpdateResource(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// HasCharts reports whether the project has kinds whose objects are releases of charts, or its layout is for such kinds.
func (c *Config) HasCharts() bool {
	return c.Facts().Charts || slices.ContainsFunc(c.Resources(), c.IsChart)
}

// ChartsRole returns the file with the permissions that charts require.
func (c *Config) ChartsRole() string {
	if c.Facts().Charts {
		return RoleFile
	}
	return ChartsRoleFile
}
