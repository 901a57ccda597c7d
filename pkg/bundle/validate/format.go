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
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// formatError returns the error of operator-sdk for a problem of the format.
func (c *content) formatError(text string) error {
	return errors.New("error validating format in " + c.shown + ": Bundle validation errors: " + text)
}

// checkFormat checks the layout of a bundle and its metadata.
func (c *content) checkFormat() diag.Findings {
	var out diag.Findings
	add := func(at diag.Position, rule, field, message, text, fix string) {
		out = append(out, diag.Finding{Position: at, Severity: diag.Error, Rule: rule, Field: field, Problem: text, Fix: fix, Err: c.formatError(message)})
	}
	missing := false
	for _, dir := range []string{"manifests", "metadata"} {
		if info, err := fs.Lstat(c.fsys, dir); err == nil && info.IsDir() {
			continue
		}
		missing = true
		add(diag.Position{File: c.show(dir)}, dir+"-missing", "", "Unable to locate "+dir+" directory",
			"there is no such directory in the bundle", "put the files of the bundle in the directories manifests and metadata")
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
		add(diag.Position{File: c.show(annotationsFile)}, "annotations-missing", "", "Could not find annotations file",
			"there is no file with annotations in the directory metadata", "move the annotations to metadata/annotations.yaml")
	} else {
		c.metadata = *found
		out = append(out, c.checkAnnotations()...)
	}
	return append(out, dependencies...)
}

// checkOtherDirectory checks the directory manifests of a bundle whose annotations name a different one. operator-sdk
// derives the media type from it.
func (c *content) checkOtherDirectory(add func(at diag.Position, rule, field, message, text, fix string)) {
	const dir = "manifests"
	entries := slices.DeleteFunc(c.list(dir), fs.DirEntry.IsDir)
	switch {
	case len(entries) == 0:
		c.mediaType = ""
		add(diag.Position{File: c.show(dir)}, "manifests-missing", "", fmt.Sprintf("The directory %s contains no yaml files", c.show(dir)),
			"has no manifests; they are in "+c.show(c.manifestsDir), "move them here, and set the annotation "+bundle.ManifestsLabel+" to manifests/")
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

// metadataFiles reads the directory metadata. It returns the annotations and the findings about dependencies.
func (c *content) metadataFiles() (*metadata, diag.Findings) {
	var (
		found     *metadata
		findings  diag.Findings
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
				c.problems("metadata-yaml", "remove the file from the bundle, or save it as UTF-8 text", problems)
				ok = false
			}
		}
		if !ok {
			// Problems of an unused file do not make the bundle invalid.
			for i := before; i < len(c.findings); i++ {
				c.findings[i].Severity = diag.Warning
			}
			continue
		}
		if found == nil {
			if m, err := c.annotations(name, data); err == nil && m.values != nil {
				found = &m
				if startsEmpty(data) {
					findings = append(findings, diag.Finding{
						Position: diag.Position{File: c.show(name), Line: 1}, Severity: diag.Error, Rule: "leading-document",
						Problem: "starts with a document without content, and OLM reads only the first document", Fix: "remove the line ---",
						Err: c.formatError("Could not find annotations file"),
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

// metadataWarning records an invalid metadata file that OLM ignores.
func (c *content) metadataWarning(name string, data []byte, err error) {
	at, text := diag.Position{File: c.show(name), Line: 1}, err.Error()
	_, problems := manifest.Document{Position: at, Data: data}.Object()
	for _, p := range problems {
		if !errors.Is(p, manifest.ErrNotKubernetes) {
			at, text = p.Position, p.Problem
		}
	}
	c.warn(at, "metadata-yaml", text+"; the file is ignored", "correct the YAML")
}

// checkAnnotations checks the annotations required in every bundle.
func (c *content) checkAnnotations() diag.Findings {
	var out diag.Findings
	add := func(key, message, text, fix string) {
		out = append(out, diag.Finding{
			Position: c.position(key), Severity: diag.Error, Rule: "annotations", Field: manifest.FieldPath([]string{"annotations", key}),
			Problem: text, Fix: fix, Err: c.formatError(message),
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
			add(key, fmt.Sprintf("Missing annotation %q", key), "the annotation is missing", fmt.Sprintf("set %s: %s", key, fixes[key]))
		case key == bundle.MediaTypeLabel && value != c.mediaType:
			add(key, fmt.Sprintf("Expecting annotation %q to have value %q instead of %q", key, c.mediaType, value),
				fmt.Sprintf("is %q, but the manifests are of the type %s", value, c.mediaType), fmt.Sprintf("set %s: %s", key, c.mediaType))
		case (key == bundle.ChannelsLabel || key == bundle.DefaultChannelLabel && ok) && value == "":
			add(key, fmt.Sprintf("Expecting annotation %q to have non-empty value", key), "is empty", "set a channel, or remove the annotation if it is the default channel")
		}
	}
	return out
}
