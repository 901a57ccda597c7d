package source

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/vcs"
)

const (
	chartFile  = "Chart.yaml"
	valuesFile = "values.yaml"
	chartsPath = "charts/"
)

var (
	// byteOrderMark is at the start of some files made on Windows. Helm removes it.
	byteOrderMark = []byte("\xEF\xBB\xBF")
	// chartName matches valid names, as for Helm's create command. The name of a chart becomes the name of a directory.
	chartName = lazyregexp.New(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,249}$`)
)

// loadChart loads the files of a chart as Helm does. The order of dependencies does not depend on the order of a map.
func loadChart(files helmchart.Files) (*chart.Chart, error) {
	if err := checkChartFile(files); err != nil {
		return nil, err
	}
	var buffered []*archive.BufferedFile
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := checkPath(name); err != nil {
			return nil, err
		}
		if isParsed(name) {
			if err := safeyaml.Check(files[name]); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		buffered = append(buffered, &archive.BufferedFile{Name: name, Data: bytes.TrimPrefix(files[name], byteOrderMark)})
	}
	loaded, err := loader.LoadFiles(buffered)
	if err != nil {
		name, _ := headOf(files)
		return nil, fmt.Errorf("chart %s: %w", name, shorten(err))
	}
	sortDependencies(loaded)
	return loaded, nil
}

// isParsed reports whether Helm's loader parses a file, which safeyaml limits first.
func isParsed(name string) bool {
	switch path.Base(name) {
	case chartFile, valuesFile, "requirements.yaml", "Chart.lock", "requirements.lock":
		return !strings.Contains(name, "/") || strings.HasPrefix(name, chartsPath)
	}
	return false
}

// checkPath returns an error for paths that are not below the directory of the chart, or in a directory of version control.
func checkPath(name string) error {
	if name == "" || path.IsAbs(name) || path.Clean(name) != name || name == "." || name == ".." || strings.HasPrefix(name, "../") ||
		strings.ContainsAny(name, "\\\x00") || len(name) > 1 && name[1] == ':' {
		return fmt.Errorf("%q: the path is not in the directory of the chart", name)
	}
	if element := vcs.Element(name); element != "" {
		return fmt.Errorf("%q: a chart must not contain %q, a directory of version control; package the chart again without it", name, element)
	}
	return nil
}

// checkChartFile reports problems of Chart.yaml with its path, before Helm's loader reports them without.
func checkChartFile(files helmchart.Files) error {
	data, ok := files[chartFile]
	if !ok {
		return fmt.Errorf("%s not found; a chart is a directory or an archive with this file", chartFile)
	}
	var head map[string]any
	if err := safeyaml.UnmarshalJSON(bytes.TrimPrefix(data, byteOrderMark), &head); err != nil {
		return fmt.Errorf("%s: %w", chartFile, shorten(err))
	}
	for _, key := range []string{"name", "version", "apiVersion", "type", "appVersion", "kubeVersion"} {
		if value, ok := head[key]; ok && value != nil {
			if _, ok := value.(string); !ok {
				return fmt.Errorf("%s: %s must be a string; write it in quotes", chartFile, key)
			}
		}
	}
	text := func(key string) string { s, _ := head[key].(string); return s }
	switch version := text("apiVersion"); version {
	case "", chart.APIVersionV1, chart.APIVersionV2:
	case "v3":
		return fmt.Errorf("%s: unsupported apiVersion %q: Helm 4 has it for experiments only; use v2", chartFile, version)
	default:
		return fmt.Errorf("%s: unsupported apiVersion %q; it must be v1 or v2", chartFile, version)
	}
	switch name := text("name"); {
	case name == "":
		return fmt.Errorf("%s: name is required", chartFile)
	case !chartName.MatchString(name):
		return fmt.Errorf("%s: name %q must consist of letters, digits, '-', '_' and '.', and start with a letter or a digit", chartFile, name)
	}
	switch version := text("version"); {
	case version == "":
		return fmt.Errorf("%s: version is required", chartFile)
	default:
		if _, err := semver.NewVersion(version); err != nil {
			return fmt.Errorf("%s: version %q must be a semantic version (MAJOR.MINOR.PATCH)", chartFile, version)
		}
	}
	return nil
}

// headOf returns the name and the version in Chart.yaml, which checkChartFile has checked.
func headOf(files helmchart.Files) (name, version string) {
	var head struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if safeyaml.UnmarshalJSON(bytes.TrimPrefix(files[chartFile], byteOrderMark), &head) != nil {
		return "", ""
	}
	return head.Name, head.Version
}

// sortDependencies sorts the dependencies that the loader collected in a map.
func sortDependencies(c *chart.Chart) {
	dependencies := slices.Clone(c.Dependencies())
	slices.SortFunc(dependencies, func(a, b *chart.Chart) int {
		return cmp.Or(cmp.Compare(a.Name(), b.Name()), cmp.Compare(a.Metadata.Version, b.Metadata.Version))
	})
	for _, dependency := range dependencies {
		sortDependencies(dependency)
	}
	c.SetDependencies(dependencies...)
}
