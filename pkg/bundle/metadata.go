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
		{prefixBundle + "mediatype.v1", "registry+v1"},
		{prefixBundle + "manifests.v1", "manifests/"},
		{prefixBundle + "metadata.v1", "metadata/"},
		{prefixBundle + "package.v1", m.Package},
		{prefixBundle + "channels.v1", m.Channels},
	}
	if m.DefaultChannel != "" {
		core = append(core, label{prefixBundle + "channel.default.v1", m.DefaultChannel})
	}
	core = append(core,
		label{metricsBuilder, m.Builder},
		label{prefixMetrics + "mediatype.v1", "metrics+v1"},
		label{prefixMetrics + "project_layout", m.Layout},
	)
	if m.Scorecard {
		test = []label{
			{prefixTest + "mediatype.v1", "scorecard+v1"},
			{prefixTest + "config.v1", "tests/scorecard/"},
		}
	}
	return core, test
}

// Annotations is the content of annotations.yaml.
func (m Metadata) Annotations() ([]byte, error) { return m.render("annotations.yaml") }

// Dockerfile is the content of bundle.Dockerfile.
func (m Metadata) Dockerfile() ([]byte, error) { return m.render(DockerfileName) }

func (m Metadata) render(name string) ([]byte, error) {
	text, err := fs.ReadFile(templates.FS, "bundle/"+name+".tmpl")
	if err != nil {
		return nil, err
	}
	// A checkout on Windows may have brought carriage returns into the templates.
	tmpl, err := template.New(name).Option("missingkey=error").Parse(strings.ReplaceAll(string(text), "\r\n", "\n"))
	if err != nil {
		return nil, fmt.Errorf("template of %s: %w", name, err)
	}
	var data struct {
		Core, Test []label
		Dir        string
	}
	data.Core, data.Test = m.labels()
	data.Dir = m.Dir
	var b bytes.Buffer
	if err := tmpl.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("template of %s: %w", name, err)
	}
	return b.Bytes(), nil
}
