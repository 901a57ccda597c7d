package validate

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	apimanifests "github.com/operator-framework/api/pkg/manifests"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// The limits of what is read: far beyond what a cluster takes, and far below what hurts.
const (
	maxFile  = 8 << 20
	maxFiles = 10_000
)

// The media types of a bundle's content.
const (
	registryType = "registry+v1"
	helmType     = "helm"
	plainType    = "plain"
)

const (
	csvKind = "ClusterServiceVersion"
	crdKind = "CustomResourceDefinition"
)

// content is a bundle as read.
type content struct {
	fsys fs.FS
	// shown is the bundle's directory as the caller named it.
	shown     string
	findings  []Finding
	mediaType string
	// manifestsDir is the directory of the manifests, relative to the bundle.
	manifestsDir string
	metadata     metadata
	objects      []manifest.Object
	// csv is the object of api.CSV.
	csv manifest.Object
	// crds are the objects of the CRDs, in the order of objects.
	crds []manifest.Object
	api  *apimanifests.Bundle
	// raw are the bytes of the manifests before and after compression.
	size, compressed int64
	// manifests is what was read of them.
	manifests safeyaml.Set
	// phrases gives the phrasebook of the call.
	phrases func() *phrasebook
}

// load reads a bundle. Where it has findings of level Error, the bundle cannot be looked at further.
func load(fsys fs.FS, shown string, phrases func() *phrasebook) *content {
	c := &content{fsys: fsys, shown: shown, api: &apimanifests.Bundle{}, phrases: phrases}
	c.loadMetadata()
	c.loadManifests()
	return c
}

func (c *content) failed() bool {
	return slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Level == Error })
}

// show gives the path of a file as the caller would name it.
func (c *content) show(name string) string { return path.Join(c.shown, name) }

// bad records a fault of a file that keeps the bundle from being read.
func (c *content) bad(name string, line int, rule, text, fix string) {
	c.findings = append(c.findings, Finding{
		Position: manifest.Position{File: c.show(name), Line: line}, Level: Error, Rule: rule, Text: text, Fix: fix,
	})
}

// warn records a fault of a file that does not.
func (c *content) warn(at manifest.Position, rule, text, fix string) {
	c.findings = append(c.findings, Finding{Position: at, Level: Warning, Rule: rule, Text: text, Fix: fix})
}

// problems records what keeps a file from being read.
func (c *content) problems(rule, fix string, problems manifest.Problems) {
	for _, p := range problems {
		c.findings = append(c.findings, Finding{Position: p.Position, Level: Error, Rule: rule, Text: p.Problem, Fix: fix})
	}
}

// read reads a file of the bundle; false means that a finding says why not.
func (c *content) read(name string) ([]byte, bool) {
	info, err := fs.Stat(c.fsys, name)
	if err != nil {
		c.unreadable(name, err)
		return nil, false
	}
	switch {
	case !info.Mode().IsRegular():
		c.bad(name, 0, "file-type", "is no regular file", "put a plain file in its place")
		return nil, false
	case info.Size() > maxFile:
		c.bad(name, 0, "file-size", fmt.Sprintf("has %d bytes, more than the %d that are read of one file", info.Size(), maxFile),
			"take out what is no manifest; OLM takes 1 MiB for a whole bundle")
		return nil, false
	}
	data, err := safeyaml.ReadFile(c.fsys, name, maxFile)
	if err != nil {
		c.unreadable(name, err)
		return nil, false
	}
	return data, true
}

func (c *content) unreadable(name string, err error) {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	if strings.Contains(err.Error(), "escapes") {
		c.bad(name, 0, "symlink", "is a symbolic link to a place outside of the bundle", "copy the file into the bundle: an image holds no such link's target")
		return
	}
	c.bad(name, 0, "file-access", "cannot be read: "+err.Error(), "")
}

// list lists a directory; nothing for one that is missing.
func (c *content) list(name string) []fs.DirEntry {
	entries, err := fs.ReadDir(c.fsys, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.unreadable(name, err)
	}
	if len(entries) > maxFiles {
		c.bad(name, 0, "file-count", fmt.Sprintf("holds %d files, more than the %d that are read", len(entries), maxFiles), "")
		entries = entries[:maxFiles]
	}
	return entries
}

// describe names an object for a person.
func describe(obj manifest.Object) string { return strings.TrimSpace(obj.Kind() + " " + obj.Name()) }

// textAt is the text at a path of nested mappings.
func textAt(fields map[string]any, path ...string) (string, bool) {
	for i, key := range path {
		if i == len(path)-1 {
			s, ok := fields[key].(string)
			return s, ok
		}
		fields, _ = fields[key].(map[string]any)
	}
	return "", false
}
