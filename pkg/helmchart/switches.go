package helmchart

import (
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// tagsKey is the key of the values that enable dependencies by tag, in the chart that is installed.
const tagsKey = "tags"

// switchNames are the names of booleans that add objects to a chart. They are constant.
var switchNames = []string{"enabled", "enable", "create", "install", "installCRDs"}

// A chartSwitch is a boolean value of a chart, or of one of its dependencies, that adds objects.
type chartSwitch struct {
	// path is the path in the values of the chart that is installed.
	path []string
	// on is the default.
	on bool
	// needs are the paths of the switches and tags that enable the dependencies that the value belongs to.
	needs [][]string
}

// name returns the path for messages.
func (s chartSwitch) name() string { return strings.Join(s.path, ".") }

// findSwitches returns the switches of a chart and its dependencies, sorted by path.
func findSwitches(files Files) []chartSwitch {
	f := finder{files: files, found: map[string]chartSwitch{}}
	f.chart("", nil, nil)
	return slices.SortedFunc(maps.Values(f.found), func(a, b chartSwitch) int { return slices.Compare(a.path, b.path) })
}

type finder struct {
	files Files
	found map[string]chartSwitch
}

// add adds a switch. Values of a chart take precedence over its dependencies, which are added later.
func (f *finder) add(path []string, on bool, needs [][]string) {
	key := strings.Join(path, "\x00")
	if _, ok := f.found[key]; !ok {
		f.found[key] = chartSwitch{path: path, on: on, needs: needs}
	}
}

// maxChartDepth limits dependencies of dependencies.
const maxChartDepth = 8

// chart adds the switches of the chart in a directory, whose values have a prefix in the values of the installed chart.
func (f *finder) chart(dir string, prefix []string, needs [][]string) {
	var values yaml.Node
	if safeyaml.Unmarshal(f.files[path.Join(dir, "values.yaml")], &values) == nil && len(values.Content) > 0 {
		f.values(values.Content[0], prefix, needs)
	}
	if strings.Count(dir, "charts/") >= maxChartDepth {
		return
	}
	declared := f.dependencies(dir)
	for _, sub := range f.subcharts(dir) {
		ds := slices.DeleteFunc(slices.Clone(declared), func(d dependency) bool { return d.Name != sub.name })
		if len(ds) == 0 {
			ds = []dependency{{Name: sub.name}}
		}
		for _, d := range ds {
			f.dependency(d, sub.dir, prefix, needs)
		}
	}
}

// dependency adds the switches of a dependency, and the switches that enable it.
func (f *finder) dependency(d dependency, dir string, prefix []string, needs [][]string) {
	needs = slices.Clip(needs)
	for condition := range strings.SplitSeq(d.Condition, ",") {
		if condition = strings.TrimSpace(condition); condition != "" {
			at := slices.Concat(prefix, strings.Split(condition, "."))
			f.add(at, false, needs)
			needs = append(needs, at)
		}
	}
	for _, tag := range d.Tags {
		at := []string{tagsKey, tag}
		f.add(at, false, nil)
		needs = append(needs, at)
	}
	name := d.Alias
	if name == "" {
		name = d.Name
	}
	f.chart(dir, append(slices.Clip(prefix), name), needs)
}

func (f *finder) values(node *yaml.Node, at []string, needs [][]string) {
	for key, value := range safeyaml.Fields(node) {
		inner := append(slices.Clip(at), key.Value)
		var on bool
		switch {
		case value.Kind == yaml.MappingNode:
			f.values(value, inner, needs)
		case value.Kind == yaml.ScalarNode && value.ShortTag() == "!!bool" && value.Decode(&on) == nil &&
			(slices.Contains(switchNames, key.Value) || len(inner) == 2 && inner[0] == tagsKey):
			f.add(inner, on, needs)
		}
	}
}

// A dependency is an entry of Chart.yaml or requirements.yaml.
type dependency struct {
	Name      string   `yaml:"name"`
	Alias     string   `yaml:"alias"`
	Condition string   `yaml:"condition"`
	Tags      []string `yaml:"tags"`
}

// dependencies returns the declared dependencies of the chart in a directory.
func (f *finder) dependencies(dir string) []dependency {
	var declared struct {
		Dependencies []dependency `yaml:"dependencies"`
	}
	for _, file := range []string{"Chart.yaml", "requirements.yaml"} {
		if safeyaml.Unmarshal(f.files[path.Join(dir, file)], &declared) == nil && len(declared.Dependencies) > 0 {
			return declared.Dependencies
		}
	}
	return nil
}

// A subchart is the directory of a dependency, with its name in Chart.yaml.
type subchart struct{ dir, name string }

// subcharts returns the unpacked dependencies of the chart in a directory, sorted.
func (f *finder) subcharts(dir string) []subchart {
	var found []subchart
	within := path.Join(dir, "charts") + "/"
	for _, file := range slices.Sorted(maps.Keys(f.files)) {
		rest, ok := strings.CutPrefix(file, within)
		name, base, nested := strings.Cut(rest, "/")
		if !ok || !nested || base != "Chart.yaml" {
			continue
		}
		var chart struct {
			Name string `yaml:"name"`
		}
		if safeyaml.Unmarshal(f.files[file], &chart) == nil && chart.Name != "" {
			found = append(found, subchart{within + name, chart.Name})
		}
	}
	return found
}

// Version returns the version in Chart.yaml, or "" if there is none.
func Version(files Files) string {
	var chart struct {
		Version string `yaml:"version"`
	}
	if safeyaml.Unmarshal(files["Chart.yaml"], &chart) != nil {
		return ""
	}
	return chart.Version
}
