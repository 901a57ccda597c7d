package bundle

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"text/template"

	"github.com/operon-sdk/operon/templates"
)

// The files of a bundle, relative to its folder; the Dockerfile lies in the project's.
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
	// metricsBuilder names the program that made the metadata.
	metricsBuilder = prefixMetrics + "builder"
)

// DefaultChannel is the channel of bundles and packages for which no other is chosen, as operator-sdk's.
const DefaultChannel = "alpha"

// The annotations of a bundle's metadata, which are labels of its image too.
const (
	MediaTypeLabel      = prefixBundle + "mediatype.v1"
	ManifestsLabel      = prefixBundle + "manifests.v1"
	MetadataLabel       = prefixBundle + "metadata.v1"
	PackageLabel        = prefixBundle + "package.v1"
	ChannelsLabel       = prefixBundle + "channels.v1"
	DefaultChannelLabel = prefixBundle + "channel.default.v1"
	// TestMediaTypeLabel and TestConfigLabel say that there is a configuration for scorecard, and in which folder.
	TestMediaTypeLabel = prefixTest + "mediatype.v1"
	TestConfigLabel    = prefixTest + "config.v1"
)

// Metadata is what annotations.yaml and the labels of the bundle's image say.
type Metadata struct {
	// Dir is the bundle's folder as seen from the Dockerfile, separated by slashes.
	Dir string
	// Package, Channels (comma-separated) and DefaultChannel (may be empty) place the bundle in a catalog.
	Package, Channels, DefaultChannel string
	// Layout and Builder are as in Input.
	Layout, Builder string
	// Scorecard tells that the bundle brings a configuration for scorecard tests.
	Scorecard bool
}

// label is an annotation of a bundle, and a label of its image.
type label struct{ Key, Value string }

// labels are the labels in the order in which they are written: the core ones, and those for tests.
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

// values are all keys of annotations.yaml, or of the Dockerfile with its other instructions.
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

// Annotations is the content of annotations.yaml.
func (m Metadata) Annotations() ([]byte, error) {
	return m.render("annotations.yaml", m.values(false), nil)
}

// Dockerfile is the content of bundle.Dockerfile.
func (m Metadata) Dockerfile() ([]byte, error) { return m.render(DockerfileName, m.values(true), nil) }

// render writes a file with the values that it shall have, and a person's texts after them.
func (m Metadata) render(name string, values map[string]any, extras []extra) ([]byte, error) {
	text, err := fs.ReadFile(templates.FS, "bundle/"+name+".tmpl")
	if err != nil {
		return nil, err
	}
	// A checkout on Windows may have brought carriage returns into the templates.
	tmpl, err := template.New(name).Option("missingkey=error").Funcs(templates.Funcs()).Parse(strings.ReplaceAll(string(text), "\r\n", "\n"))
	if err != nil {
		return nil, fmt.Errorf("template of %s: %w", name, err)
	}
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
	var b bytes.Buffer
	if err := tmpl.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("template of %s: %w", name, err)
	}
	for i, e := range extras {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.text)
	}
	return b.Bytes(), nil
}
