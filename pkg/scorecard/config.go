package scorecard

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

const (
	// mediaType is the only supported type of configuration.
	mediaType        = "scorecard+v1"
	defaultConfigDir = "tests/scorecard"
	configFile       = "config.yaml"
)

// ConfigPath returns the path of the bundle's configuration in the bundle.
func ConfigPath(fsys fs.FS) (string, error) {
	annotations, err := findAnnotations(fsys)
	if err != nil {
		return "", err
	}
	dir := defaultConfigDir
	if annotations[bundle.TestMediaTypeLabel] == mediaType && annotations[bundle.TestConfigLabel] != "" {
		dir = path.Clean(annotations[bundle.TestConfigLabel])
	}
	name := path.Join(dir, configFile)
	if !fs.ValidPath(name) {
		return "", fmt.Errorf("annotation %s: %q must be a directory of the bundle", bundle.TestConfigLabel, annotations[bundle.TestConfigLabel])
	}
	return name, nil
}

// ParseConfig parses a configuration. unknown describes keys that have no effect, such as misspelled ones.
func ParseConfig(data []byte) (config v1alpha3.Configuration, unknown error, err error) {
	if err := safeyaml.UnmarshalJSON(data, &config); err != nil {
		return config, nil, fmt.Errorf("is not a scorecard configuration: %w", plain(err))
	}
	if config.Kind != "" && config.Kind != v1alpha3.ConfigurationKind {
		return config, nil, fmt.Errorf("is not a scorecard configuration: its kind is %s, not %s", config.Kind, v1alpha3.ConfigurationKind)
	}
	if version := v1alpha3.GroupVersion.String(); config.APIVersion != "" && config.APIVersion != version {
		return config, nil, fmt.Errorf("has the apiVersion %s; only %s is supported", config.APIVersion, version)
	}
	var strict v1alpha3.Configuration
	if err := safeyaml.UnmarshalStrict(data, &strict); err != nil {
		unknown = plain(err)
	}
	return config, unknown, nil
}

// plain removes the prefixes of the YAML library from an error.
func plain(err error) error {
	if _, ok := errors.AsType[*safeyaml.Error](err); ok {
		return err
	}
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "error unmarshaling JSON: ", "while decoding JSON: ", "json: ", "yaml: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return errors.New(text)
}

// Select returns the tests whose labels match, in their stages, without empty stages.
func Select(config v1alpha3.Configuration, selector labels.Selector) []v1alpha3.StageConfiguration {
	var stages []v1alpha3.StageConfiguration
	for _, stage := range config.Stages {
		selected := v1alpha3.StageConfiguration{Parallel: stage.Parallel}
		for _, test := range stage.Tests {
			if selector == nil || selector.Empty() || selector.Matches(labels.Set(test.Labels)) {
				selected.Tests = append(selected.Tests, test)
			}
		}
		if len(selected.Tests) > 0 {
			stages = append(stages, selected)
		}
	}
	return stages
}

// List returns the tests of stages without results.
func List(stages []v1alpha3.StageConfiguration) v1alpha3.TestList {
	list := v1alpha3.NewTestList()
	for _, stage := range stages {
		for _, test := range stage.Tests {
			item := v1alpha3.NewTest()
			item.Spec = test
			list.Items = append(list.Items, item)
		}
	}
	return list
}

// TestName returns the name of a test in messages: its label, its entry point or its image.
func TestName(test v1alpha3.TestConfiguration) string {
	switch {
	case test.Labels["test"] != "":
		return test.Labels["test"]
	case len(test.Entrypoint) > 0:
		return strings.Join(test.Entrypoint, " ")
	}
	return test.Image
}
