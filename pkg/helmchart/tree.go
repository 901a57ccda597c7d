package helmchart

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A chartTree is a chart with its values and the values of its dependencies.
type chartTree struct {
	name, version string
	// values are the default values, with the dependencies' values at their keys.
	values *value
	// schema is the content of values.schema.json, or nil.
	schema *schemaDocument
	// dependencies are the charts below charts/, by the key of their values.
	dependencies map[string]*chartTree
	// switches are the paths of values that enable dependencies.
	switches []string
	// isRoot is true for the chart that is installed.
	isRoot bool
}

// globalKey is the key of the values that all charts get.
const globalKey = "global"

// chartFile has the fields of Chart.yaml, and of requirements.yaml, that are needed here.
type chartFile struct {
	Name         string `json:"name"`
	Version      string `json:"version"`
	Dependencies []struct {
		Name      string   `json:"name"`
		Alias     string   `json:"alias"`
		Condition string   `json:"condition"`
		Tags      []string `json:"tags"`
	} `json:"dependencies"`
}

// maxCharts is the number of charts that one chart can contain.
const maxCharts = 1000

func readTree(files Files) (*chartTree, error) {
	charts := 0
	tree, err := readChart(files, "", &charts)
	if err != nil {
		return nil, err
	}
	tree.isRoot = true
	return tree, nil
}

func readChart(files Files, dir string, charts *int) (*chartTree, error) {
	if *charts++; *charts > maxCharts {
		return nil, fmt.Errorf("the chart contains more than %d charts", maxCharts)
	}
	tree := &chartTree{dependencies: map[string]*chartTree{}}
	var file chartFile
	data, ok := files[dir+"Chart.yaml"]
	if !ok {
		return nil, fmt.Errorf("%sChart.yaml: not found", dir)
	}
	if err := safeyaml.UnmarshalJSON(data, &file); err != nil {
		return nil, fmt.Errorf("%sChart.yaml: %w", dir, err)
	}
	if data, ok := files[dir+"requirements.yaml"]; ok && len(file.Dependencies) == 0 { // charts of Helm 2
		var requirements chartFile
		if err := safeyaml.UnmarshalJSON(data, &requirements); err != nil {
			return nil, fmt.Errorf("%srequirements.yaml: %w", dir, err)
		}
		file.Dependencies = requirements.Dependencies
	}
	tree.name, tree.version = file.Name, file.Version
	var err error
	if tree.values, err = readValues(dir+"values.yaml", files[dir+"values.yaml"]); err != nil {
		return nil, err
	}
	if data, ok := files[dir+"values.schema.json"]; ok {
		if tree.schema, err = readSchemaDocument(data); err != nil {
			return nil, fmt.Errorf("%svalues.schema.json: %w", dir, err)
		}
	}
	below := map[string]*chartTree{}
	for _, subdir := range subcharts(files, dir) {
		sub, err := readChart(files, subdir, charts)
		if err != nil {
			return nil, err
		}
		below[sub.name] = sub
	}
	declared := map[string]bool{}
	for _, dependency := range file.Dependencies {
		declared[dependency.Name] = true
		key := dependency.Alias
		if key == "" {
			key = dependency.Name
		}
		if sub := below[dependency.Name]; sub != nil {
			tree.dependencies[key] = sub
		}
		for condition := range strings.SplitSeq(dependency.Condition, ",") {
			if condition = strings.TrimSpace(condition); condition != "" {
				tree.switches = append(tree.switches, condition)
			}
		}
		for _, tag := range dependency.Tags {
			tree.switches = append(tree.switches, "tags."+tag)
		}
	}
	for name, sub := range below {
		if !declared[name] {
			tree.dependencies[name] = sub
		}
	}
	tree.addDependencyValues()
	return tree, nil
}

// subcharts returns the directories of the charts in charts/ of a chart, in order.
func subcharts(files Files, dir string) []string {
	var dirs []string
	for name := range files {
		rest, ok := strings.CutPrefix(name, dir+"charts/")
		if ok && path.Base(rest) == "Chart.yaml" && strings.Count(rest, "/") == 1 {
			dirs = append(dirs, path.Dir(name)+"/")
		}
	}
	slices.Sort(dirs)
	return dirs
}

// addDependencyValues adds the default values of the dependencies at their keys.
func (t *chartTree) addDependencyValues() {
	for _, key := range slices.Sorted(maps.Keys(t.dependencies)) {
		own, sub := t.values.fields[key], t.dependencies[key].values
		switch {
		case own == nil || own.kind == nullValue:
			t.values.set(key, sub)
		case own.kind == mapValue:
			t.values.set(key, overlay(sub, own))
		}
	}
}

// describe returns the schema of the values of a chart. Parents override the values of the chart.
func (t *chartTree) describe(f inference, values *value) *valueSchema {
	s := openObject("")
	if t.schema != nil {
		s = intersect(s, t.schema.convert(values))
	}
	if s.properties == nil {
		s.properties = map[string]*valueSchema{}
	}
	s.additional = nil
	for key, sub := range t.dependencies {
		s.properties[key] = t.describeDependency(f, s.properties[key], sub, values.fields[key])
	}
	// The keys at the top are chosen by the chart, so that they are described whatever their names are.
	for _, key := range values.keys {
		switch own := s.properties[key]; {
		case own == nil && !s.closed:
			s.properties[key] = f.field(key, values.fields[key])
		case own != nil && t.dependencies[key] == nil:
			s.properties[key] = f.complete(key, own, values.fields[key])
		}
	}
	if global := s.properties[globalKey]; global != nil {
		global.closed = false
	} else if s.closed || t.isRoot {
		s.properties[globalKey] = openObject("Values for the chart and its dependencies.")
	}
	for _, condition := range t.switches {
		s.addSwitch(strings.Split(condition, "."))
	}
	return s
}

// describeDependency returns the schema of the key of a dependency. A description by the schema of the parent takes precedence.
func (t *chartTree) describeDependency(f inference, own *valueSchema, sub *chartTree, values *value) *valueSchema {
	if values == nil || values.kind != mapValue {
		return anything("")
	}
	if own != nil && len(own.properties) > 0 {
		return f.complete(sub.name, own, values)
	}
	s := sub.describe(f, values)
	switch {
	case own != nil && own.description != "":
		s.description = own.description
	case s.description == "":
		s.description = fmt.Sprintf("Values of the dependency %s.", sub.name)
	}
	return s
}

func (s *valueSchema) addSwitch(path []string) {
	if s.typ != objectType || s.additional != nil {
		return
	}
	if s.properties == nil {
		s.properties = map[string]*valueSchema{}
	}
	next := s.properties[path[0]]
	if len(path) == 1 {
		if next == nil {
			s.properties[path[0]] = &valueSchema{typ: booleanType}
		} else if next.typ == anyType {
			s.properties[path[0]] = &valueSchema{typ: booleanType, description: next.description}
		}
		return
	}
	if next == nil {
		next = openObject("")
		s.properties[path[0]] = next
	}
	next.addSwitch(path[1:])
}
