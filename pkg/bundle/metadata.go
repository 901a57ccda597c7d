package bundle

import (
	"github.com/operon-sdk/operon/templates"
)

// The files of a bundle, relative to its directory; the Dockerfile is in the project directory.
const (
	ManifestsDir    = "manifests"
	AnnotationsFile = "metadata/annotations.yaml"
	ScorecardFile   = "tests/scorecard/config.yaml"
	DockerfileName  = "bundle.Dockerfile"
)

const (
	prefixBundle  = "operators.operatorframework.io.bundle."
	prefixMetrics = "operators.operatorframework.io.metrics."
	prefixTest    = "operators.operatorframework.io.test."
	// metricsBuilder is the program that generated the metadata.
	metricsBuilder = prefixMetrics + "builder"
)

// DefaultChannel is the channel of bundles and packages without a configured one, as in operator-sdk.
const DefaultChannel = "alpha"

// The annotations of a bundle's metadata, which are also labels of its image.
const (
	MediaTypeLabel      = prefixBundle + "mediatype.v1"
	ManifestsLabel      = prefixBundle + "manifests.v1"
	MetadataLabel       = prefixBundle + "metadata.v1"
	PackageLabel        = prefixBundle + "package.v1"
	ChannelsLabel       = prefixBundle + "channels.v1"
	DefaultChannelLabel = prefixBundle + "channel.default.v1"
	// TestMediaTypeLabel and TestConfigLabel declare a scorecard configuration and its directory.
	TestMediaTypeLabel = prefixTest + "mediatype.v1"
	TestConfigLabel    = prefixTest + "config.v1"
)

// Metadata is the content of annotations.yaml and of the labels of the bundle image.
type Metadata struct {
	// Dir is the slash-separated path of the bundle relative to the Dockerfile.
	Dir string
	// Package, Channels (comma-separated) and DefaultChannel (may be empty) are the bundle's place in a catalog.
	Package, Channels, DefaultChannel string
	// Layout and Builder are as in Input.
	Layout, Builder string
	// Scorecard reports whether the bundle has a scorecard configuration.
	Scorecard bool
}

// A label is an annotation of a bundle and a label of its image.
type label struct{ Key, Value string }

// labels returns the labels in file order: the core labels and those for tests.
func (m Metadata) labels() (core, test []label) {
	core = []label{
		{MediaTypeLabel, "registry+v1"},
		{ManifestsLabel, "manifests/"},
		{MetadataLabel, "metadata/"},
		{PackageLabel, m.Package},
		{ChannelsLabel, m.Channels},
	}
	if m.DefaultChannel != "" {
		core = append(core, label{DefaultChannelLabel, m.DefaultChannel})
	}
	core = append(core,
		label{metricsBuilder, m.Builder},
		label{prefixMetrics + "mediatype.v1", "metrics+v1"},
		label{prefixMetrics + "project_layout", m.Layout},
	)
	if m.Scorecard {
		test = []label{
			{TestMediaTypeLabel, "scorecard+v1"},
			{TestConfigLabel, "tests/scorecard/"},
		}
	}
	return core, test
}

// values returns the keys and values of annotations.yaml, or of the Dockerfile including its other instructions.
func (m Metadata) values(dockerfile bool) map[string]any {
	values := map[string]any{}
	core, test := m.labels()
	for _, l := range append(core, test...) {
		values[l.Key] = l.Value
	}
	if !dockerfile {
		return values
	}
	values[keyFrom] = "scratch"
	values[keyCopy+"/manifests/"] = m.Dir + "/manifests"
	values[keyCopy+"/metadata/"] = m.Dir + "/metadata"
	if m.Scorecard {
		values[keyCopy+"/tests/scorecard/"] = m.Dir + "/tests/scorecard"
	}
	return values
}

// Annotations returns the content of annotations.yaml.
func (m Metadata) Annotations() ([]byte, error) {
	return m.render("annotations.yaml", m.values(false), nil)
}

// Dockerfile returns the content of bundle.Dockerfile.
func (m Metadata) Dockerfile() ([]byte, error) { return m.render(DockerfileName, m.values(true), nil) }

// render executes a template with the given values and appends the texts of the user.
func (m Metadata) render(name string, values map[string]any, extras []extra) ([]byte, error) {
	var data struct {
		From             any
		Core, Test, Copy []label
	}
	pick := func(labels []label) (there []label) {
		for _, l := range labels {
			if value, ok := values[l.Key].(string); ok {
				there = append(there, label{l.Key, value})
			}
		}
		return there
	}
	core, test := m.labels()
	data.From, data.Core, data.Test = values[keyFrom], pick(core), pick(test)
	for _, target := range []string{"/manifests/", "/metadata/", "/tests/scorecard/"} {
		if from, ok := values[keyCopy+target].(string); ok {
			data.Copy = append(data.Copy, label{from, target})
		}
	}
	text, err := templates.Execute("bundle/"+name+".tmpl", data)
	if err != nil {
		return nil, err
	}
	for i, e := range extras {
		if i == 0 {
			text = append(text, '\n')
		}
		text = append(text, e.text...)
	}
	return text, nil
}
