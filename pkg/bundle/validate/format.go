package validate

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operator-framework/operator-registry/pkg/registry"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// formatMessage is a fault of the format as operator-sdk says it.
func (c *content) formatMessage(text string) string {
	return "error validating format in " + c.shown + ": Bundle validation errors: " + text
}

// checkFormat checks the layout of a bundle and its metadata.
func (c *content) checkFormat() []Finding {
	var out []Finding
	add := func(at manifest.Position, rule, field, message, text, fix string) {
		out = append(out, Finding{Position: at, Level: Error, Rule: rule, Field: field, Text: text, Fix: fix, Message: c.formatMessage(message)})
	}
	missing := false
	for _, dir := range []string{"manifests", "metadata"} {
		if info, err := fs.Lstat(c.fsys, dir); err == nil && info.IsDir() {
			continue
		}
		missing = true
		add(manifest.Position{File: c.show(dir)}, dir+"-missing", "", "Unable to locate "+dir+" directory",
			"there is no such directory in the bundle", "the files of a bundle lie in the directories manifests and metadata")
	}
	if missing {
		return out
	}
	if c.manifestsDir != "manifests" {
		defer func(mediaType string) { c.mediaType = mediaType }(c.mediaType)
		c.checkOtherDirectory(add)
	}
	found, dependencies := c.metadataFiles()
	if found == nil {
		add(manifest.Position{File: c.show(annotationsFile)}, "annotations-missing", "", "Could not find annotations file",
			"there is no file with annotations in the directory metadata", "move the annotations to metadata/annotations.yaml")
	} else {
		c.metadata = *found
		out = append(out, c.checkAnnotations()...)
	}
	return append(out, dependencies...)
}

// checkOtherDirectory checks the directory manifests of a bundle whose annotations name another one: the
// media type goes by what lies there.
func (c *content) checkOtherDirectory(add func(at manifest.Position, rule, field, message, text, fix string)) {
	const dir = "manifests"
	entries := slices.DeleteFunc(c.list(dir), fs.DirEntry.IsDir)
	switch {
	case len(entries) == 0:
		c.mediaType = ""
		add(manifest.Position{File: c.show(dir)}, "manifests-missing", "", fmt.Sprintf("The directory %s contains no yaml files", c.show(dir)),
			"holds no manifests, which lie in "+c.show(c.manifestsDir), "move them here, and write manifests/ in the annotation "+bundle.ManifestsLabel)
		return
	case c.isChart(dir):
		c.mediaType = helmType
		return
	}
	c.mediaType = plainType
	for _, entry := range entries {
		data, ok := c.read(path.Join(dir, entry.Name()))
		if !ok {
			continue
		}
		if docs := manifest.Split(entry.Name(), data); len(docs) > 0 {
			if obj, problems := docs[0].Object(); problems == nil && obj.Kind() == csvKind {
				c.mediaType = registryType
			}
		}
	}
}

// metadataFiles reads the directory metadata: its annotations, and what is wrong with its dependencies.
func (c *content) metadataFiles() (*metadata, []Finding) {
	var (
		found     *metadata
		findings  []Finding
		dependent bool
	)
	for _, entry := range c.list("metadata") {
		name := path.Join("metadata", entry.Name())
		if entry.IsDir() {
			continue
		}
		before := len(c.findings)
		data, ok := c.read(name)
		if ok {
			if problems := manifest.Unreadable(c.show(name), data); problems != nil {
				c.problems("metadata-yaml", "take the file out of the bundle, or save it as UTF-8 text", problems)
				ok = false
			}
		}
		if !ok {
			// What is wrong with a file that nothing needs is no reason to refuse the bundle.
			for i := before; i < len(c.findings); i++ {
				c.findings[i].Level = Warning
			}
			continue
		}
		if found == nil {
			if m, err := c.annotations(name, data); err == nil && m.values != nil {
				found = &m
				if startsEmpty(data) {
					findings = append(findings, Finding{
						Position: manifest.Position{File: c.show(name), Line: 1}, Level: Error, Rule: "leading-document",
						Text: "begins with a document that is empty but for comments, and OLM reads the first one only", Fix: "take the line --- out",
						Message: c.formatMessage("Could not find annotations file"),
					})
				}
				continue
			}
		}
		known := strings.HasPrefix(entry.Name(), "dependencies.") || strings.HasPrefix(entry.Name(), "properties.")
		var file registry.DependenciesFile
		if err := safeyaml.UnmarshalJSON(data, &file); err != nil {
			if known {
				c.metadataWarning(name, data, err)
			}
			continue
		}
		if !dependent && len(file.Dependencies) > 0 {
			dependent = true
			findings = append(findings, c.checkDependencies(name, data, file)...)
		}
	}
	return found, findings
}

// metadataWarning records a file of the metadata that OLM passes over since it is broken.
func (c *content) metadataWarning(name string, data []byte, err error) {
	at, text := manifest.Position{File: c.show(name), Line: 1}, err.Error()
	_, problems := manifest.Document{Position: at, Data: data}.Object()
	for _, p := range problems {
		if !errors.Is(p, manifest.ErrNotKubernetes) {
			at, text = p.Position, p.Problem
		}
	}
	c.warn(at, "metadata-yaml", text+", and is passed over", "correct the YAML")
}

// checkAnnotations checks the annotations that every bundle has.
func (c *content) checkAnnotations() []Finding {
	var out []Finding
	add := func(key, message, text, fix string) {
		out = append(out, Finding{
			Position: c.place(key), Level: Error, Rule: "annotations", Field: manifest.FieldPath([]string{"annotations", key}),
			Text: text, Fix: fix, Message: c.formatMessage(message),
		})
	}
	fixes := map[string]string{
		bundle.MediaTypeLabel: c.mediaType, bundle.ManifestsLabel: "manifests/", bundle.MetadataLabel: "metadata/",
		bundle.PackageLabel: "the name of the package", bundle.ChannelsLabel: "the channels, such as stable,candidate",
	}
	for _, key := range []string{bundle.MediaTypeLabel, bundle.ManifestsLabel, bundle.MetadataLabel, bundle.PackageLabel, bundle.ChannelsLabel, bundle.DefaultChannelLabel} {
		value, ok := c.metadata.values[key]
		switch {
		case !ok && key != bundle.DefaultChannelLabel:
			add(key, fmt.Sprintf("Missing annotation %q", key), "the annotation is missing", fmt.Sprintf("write %s: %s", key, fixes[key]))
		case key == bundle.MediaTypeLabel && value != c.mediaType:
			add(key, fmt.Sprintf("Expecting annotation %q to have value %q instead of %q", key, c.mediaType, value),
				fmt.Sprintf("is %q, but the manifests are of the type %s", value, c.mediaType), fmt.Sprintf("write %s: %s", key, c.mediaType))
		case (key == bundle.ChannelsLabel || key == bundle.DefaultChannelLabel && ok) && value == "":
			add(key, fmt.Sprintf("Expecting annotation %q to have non-empty value", key), "is empty", "name a channel, or take the annotation out where it is the default's")
		}
	}
	return out
}
