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
	// mediaType is the only kind of configuration that there is.
	mediaType        = "scorecard+v1"
	defaultConfigDir = "tests/scorecard"
	configFile       = "config.yaml"
)

// ConfigPath is where a bundle has its configuration, relative to the bundle.
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
		return "", fmt.Errorf("the annotation %s names %q, which is no folder of the bundle", bundle.TestConfigLabel, annotations[bundle.TestConfigLabel])
	}
	return name, nil
}

// ParseConfig reads a configuration. Unknown tells what of it nobody reads, misspelt keys for one.
func ParseConfig(data []byte) (config v1alpha3.Configuration, unknown error, err error) {
	if err := safeyaml.UnmarshalJSON(data, &config); err != nil {
		return config, nil, fmt.Errorf("is no scorecard configuration: %w", plain(err))
	}
	if config.Kind != "" && config.Kind != v1alpha3.ConfigurationKind {
		return config, nil, fmt.Errorf("is no scorecard configuration: its kind is %s, not %s", config.Kind, v1alpha3.ConfigurationKind)
	}
	if version := v1alpha3.GroupVersion.String(); config.APIVersion != "" && config.APIVersion != version {
		return config, nil, fmt.Errorf("has the apiVersion %s; only %s can be run", config.APIVersion, version)
	}
	var strict v1alpha3.Configuration
	if err := safeyaml.UnmarshalStrict(data, &strict); err != nil {
		unknown = plain(err)
	}
	return config, unknown, nil
}

// plain is an error of the YAML library without how it came about.
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

// Select leaves the tests whose labels match, in their stages, and completes them with the defaults of
// the configuration. Stages without tests are left out.
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

// List is the tests of stages, without results.
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

// TestName is how messages call a test: by its label, its entry point or its image.
func TestName(test v1alpha3.TestConfiguration) string {
	switch {
	case test.Labels["test"] != "":
		return test.Labels["test"]
	case len(test.Entrypoint) > 0:
		return strings.Join(test.Entrypoint, " ")
	}
	return test.Image
}
