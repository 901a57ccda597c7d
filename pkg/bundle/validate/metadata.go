package validate

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

const annotationsFile = "metadata/annotations.yaml"

// A metadata holds the annotations of a bundle.
type metadata struct {
	// file is their path relative to the bundle, empty without annotations.
	file   string
	values map[string]string
	// root is the YAML of the file, for positions.
	root *yaml.Node
}

func (m metadata) channels() []string {
	return strings.FieldsFunc(m.values[bundle.ChannelsLabel], func(r rune) bool { return r == ',' })
}

// position returns the position of an annotation, or of the nearest existing parent.
func (c *content) position(key string) diag.Position {
	at := diag.Position{File: c.show(c.metadata.file), Line: 1}
	node := c.metadata.root
	for _, step := range []string{"annotations", key} {
		i := safeyaml.ChildIndex(node, step)
		if i < 0 {
			break
		}
		at.Line, at.Column = node.Content[i].Line, node.Content[i].Column
		node = node.Content[i+1]
	}
	return at
}

// annotations decodes the annotations of a file, nil if there are none.
func (c *content) annotations(name string, data []byte) (metadata, error) {
	var file struct {
		Annotations map[string]string `json:"annotations"`
	}
	data = []byte(strings.TrimPrefix(string(data), "\ufeff"))
	if err := safeyaml.UnmarshalJSON(data, &file); err != nil {
		return metadata{}, err
	}
	m := metadata{file: name, values: file.Annotations}
	var doc yaml.Node
	if safeyaml.Unmarshal(data, &doc) == nil && len(doc.Content) > 0 {
		m.root = doc.Content[0]
	}
	return m, nil
}

// loadMetadata reads the annotations from their file, or else from any file of the bundle.
func (c *content) loadMetadata() {
	c.manifestsDir = "manifests"
	if _, err := fs.Stat(c.fsys, annotationsFile); err == nil || !errors.Is(err, fs.ErrNotExist) {
		data, ok := c.read(annotationsFile)
		if !ok {
			return
		}
		m, err := c.annotations(annotationsFile, data)
		if err != nil {
			c.yamlError(annotationsFile, data, err)
			return
		}
		c.metadata = m
	}
	if len(c.metadata.values) == 0 {
		c.searchMetadata()
	}
	if len(c.metadata.values) == 0 {
		c.bad("metadata/annotations.yaml", 0, "annotations-missing", "there are no annotations of the bundle",
			"generate them with 'operon generate bundle --metadata'")
		return
	}
	if dir, ok := c.metadata.values[bundle.ManifestsLabel]; ok {
		// The root of the image is the root of the bundle.
		if dir = path.Clean(strings.TrimLeft(dir, "/")); !fs.ValidPath(dir) {
			c.findings = append(c.findings, diag.Finding{
				Position: c.position(bundle.ManifestsLabel), Severity: diag.Error, Rule: "manifests-missing", Field: manifest.FieldPath([]string{"annotations", bundle.ManifestsLabel}),
				Problem: fmt.Sprintf("%q is outside of the bundle", c.metadata.values[bundle.ManifestsLabel]), Fix: "set manifests/",
			})
			return
		}
		c.manifestsDir = dir
	}
}

// searchMetadata reads the annotations of the first file that has any.
func (c *content) searchMetadata() {
	n := 0
	err := fs.WalkDir(c.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if n++; n > maxFiles {
			return fs.SkipAll
		}
		if d.IsDir() || !d.Type().IsRegular() {
			return nil
		}
		data, err := safeyaml.ReadFile(c.fsys, name, maxFile)
		if err != nil {
			return nil
		}
		if m, err := c.annotations(name, data); err == nil && len(m.values) > 0 {
			c.metadata = m
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		c.unreadable(".", err)
	}
}

// wrongAnnotations records annotations that are not texts, and reports whether there are any.
func (c *content) wrongAnnotations(name string, data []byte) bool {
	var doc yaml.Node
	if safeyaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return false
	}
	before := len(c.findings)
	add := func(node *yaml.Node, text string, path ...string) {
		c.findings = append(c.findings, diag.Finding{
			Position: diag.Position{File: c.show(name), Line: node.Line, Column: node.Column}, Severity: diag.Error, Rule: "metadata-yaml",
			Field: manifest.FieldPath(path), Problem: text, Fix: "write annotations as a mapping of strings: lines 'key: value', indented",
		})
	}
	annotations := safeyaml.Child(doc.Content[0], "annotations")
	switch {
	case doc.Content[0].Kind != yaml.MappingNode:
		add(doc.Content[0], "must be a mapping with the key annotations")
	case annotations != nil && annotations.Kind == yaml.MappingNode:
		for key, value := range safeyaml.Fields(annotations) {
			if value.Kind == yaml.SequenceNode || value.Kind == yaml.MappingNode {
				add(key, "must be a string", "annotations", key.Value)
			}
		}
	case annotations != nil:
		add(annotations, "must be a mapping", "annotations")
	}
	return len(c.findings) > before
}

// yamlError records that a metadata file is not valid YAML or has wrong types.
func (c *content) yamlError(name string, data []byte, err error) {
	if c.wrongAnnotations(name, data) {
		return
	}
	_, problems := manifest.Document{Position: diag.Position{File: c.show(name), Line: 1}, Data: data}.Object()
	for _, p := range problems {
		if !errors.Is(p, manifest.ErrNotKubernetes) {
			c.findings = append(c.findings, diag.Finding{Position: p.Position, Severity: diag.Error, Rule: "metadata-yaml", Problem: p.Problem, Fix: "correct the YAML; annotations are a mapping of strings"})
			return
		}
	}
	c.bad(name, 1, "metadata-yaml", strings.TrimPrefix(err.Error(), "error unmarshaling JSON: while decoding JSON: json: "), "annotations are a mapping of strings: put values in quotes")
}
