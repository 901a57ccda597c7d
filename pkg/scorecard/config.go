package scorecard

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/spf13/afero"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image/reference"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

const (
	// mediaType is the only supported type of configuration.
	mediaType        = "scorecard+v1"
	defaultConfigDir = "tests/scorecard"
	configFile       = "config.yaml"
)

// Config is the configuration of a bundle's tests.
type Config struct {
	v1alpha3.Configuration
	// Name is the name of its file in messages.
	Name string
	// Unknown describes keys that have no effect, such as misspelled ones; nil if there are none.
	Unknown error
}

// ConfigFile is a configuration to use instead of the bundle's.
type ConfigFile struct {
	FS afero.Fs
	// Path is the path in FS, Name that in messages.
	Path, Name string
}

// ReadConfig reads the configuration in a file or, if that is nil, of the bundle. A file that does not exist is a usage error.
func ReadConfig(b Bundle, file *ConfigFile) (*Config, error) {
	inBundle, err := configPath(b.FS)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, diag.Cause(err))
	}
	c := &Config{Name: b.Name + "/" + inBundle}
	var data []byte
	if file == nil {
		data, err = safeyaml.ReadFile(b.FS, inBundle, safeyaml.MaxSize)
	} else {
		c.Name = file.Name
		data, err = safeyaml.ReadFile(file.FS, file.Path, safeyaml.MaxSize)
	}
	if err != nil {
		unread := fmt.Errorf("reading the scorecard's configuration %s: %w; 'operon generate bundle' writes one from config/scorecard, and --config names another", c.Name, diag.Cause(err))
		if file != nil && errors.Is(err, fs.ErrNotExist) {
			return nil, diag.Usage(unread)
		}
		return nil, unread
	}
	if err := c.parse(data); err != nil {
		return nil, fmt.Errorf("%s %w", c.Name, err)
	}
	return c, nil
}

// configPath returns the path of the bundle's configuration in the bundle.
func configPath(fsys fs.FS) (string, error) {
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

func (c *Config) parse(data []byte) error {
	if err := safeyaml.UnmarshalJSON(data, &c.Configuration); err != nil {
		return fmt.Errorf("is not a scorecard configuration: %w", plain(err))
	}
	if c.Kind != "" && c.Kind != v1alpha3.ConfigurationKind {
		return fmt.Errorf("is not a scorecard configuration: its kind is %s, not %s", c.Kind, v1alpha3.ConfigurationKind)
	}
	if version := v1alpha3.GroupVersion.String(); c.APIVersion != "" && c.APIVersion != version {
		return fmt.Errorf("has the apiVersion %s; only %s is supported", c.APIVersion, version)
	}
	var strict v1alpha3.Configuration
	if err := safeyaml.UnmarshalStrict(data, &strict); err != nil {
		c.Unknown = plain(err)
	}
	return nil
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
func (c *Config) Select(selector labels.Selector) []v1alpha3.StageConfiguration {
	var stages []v1alpha3.StageConfiguration
	for _, stage := range c.Stages {
		selected := v1alpha3.StageConfiguration{Parallel: stage.Parallel}
		for _, test := range stage.Tests {
			if selector.Matches(labels.Set(test.Labels)) {
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

// CheckLocal returns a usage error for tests that are not built in, as tests that do not run must not seem to have passed.
func (c *Config) CheckLocal(list v1alpha3.TestList) error {
	var problems []error
	for _, test := range list.Items {
		if !isBuiltIn(test.Spec) {
			problems = append(problems, fmt.Errorf("--local: the test %q of %s needs its image %s, and a cluster; leave it out with --selector",
				testName(test.Spec), c.Name, test.Spec.Image))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return diag.Usage(errors.Join(problems...))
}

// CheckPods returns an error for tests that cannot run as pods.
func (c *Config) CheckPods(list v1alpha3.TestList) error {
	var problems []error
	for _, test := range list.Items {
		name := fmt.Sprintf("%s: the test %q", c.Name, testName(test.Spec))
		if err := reference.Check(test.Spec.Image); err != nil {
			problems = append(problems, fmt.Errorf("%s has the image %q, which %w", name, test.Spec.Image, err))
		}
		if mount := test.Spec.Storage.Spec.MountPath.Path; mount != "" && !strings.HasPrefix(mount, "/") {
			problems = append(problems, fmt.Errorf("%s has the mount path %q; it must begin with a slash", name, mount))
		}
	}
	return errors.Join(problems...)
}

// testName returns the name of a test in messages: its label, its entry point or its image.
func testName(test v1alpha3.TestConfiguration) string {
	switch {
	case test.Labels["test"] != "":
		return test.Labels["test"]
	case len(test.Entrypoint) > 0:
		return strings.Join(test.Entrypoint, " ")
	}
	return test.Image
}
