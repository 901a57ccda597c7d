package validate

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	apimanifests "github.com/operator-framework/api/pkg/manifests"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// The file limits are far above what a cluster accepts, and far below the available memory.
const (
	maxFile  = 8 << 20
	maxFiles = 10_000
)

// The media types of bundles.
const (
	registryType = "registry+v1"
	helmType     = "helm"
	plainType    = "plain"
)

const (
	csvKind = "ClusterServiceVersion"
	crdKind = "CustomResourceDefinition"
)

// A content is a bundle as read.
type content struct {
	fsys fs.FS
	// shown is the name of the bundle directory given by the caller.
	shown     string
	findings  diag.Findings
	mediaType string
	// manifestsDir is the directory of the manifests, relative to the bundle.
	manifestsDir string
	metadata     metadata
	objects      []manifest.Object
	// csv is the object of api.CSV.
	csv manifest.Object
	// crds holds the CRDs in the order of objects.
	crds []manifest.Object
	api  *apimanifests.Bundle
	// size and compressed are the bytes of the manifests before and after compression.
	size, compressed int64
	// manifests limits the total complexity of the manifests.
	manifests safeyaml.Set
	// phrases returns the phrasebook of the call.
	phrases func() *phrasebook
}

// load reads a bundle. Findings of level Error mean that it cannot be checked further.
func load(fsys fs.FS, shown string, phrases func() *phrasebook) *content {
	c := &content{fsys: fsys, shown: shown, api: &apimanifests.Bundle{}, phrases: phrases}
	c.loadMetadata()
	c.loadManifests()
	return c
}

func (c *content) failed() bool {
	return slices.ContainsFunc(c.findings, func(f diag.Finding) bool { return f.Severity == diag.Error })
}

// show returns the path of a file including the name of the bundle.
func (c *content) show(name string) string { return path.Join(c.shown, name) }

// bad records an error of a file.
func (c *content) bad(name string, line int, rule, text, fix string) {
	c.findings = append(c.findings, diag.Finding{
		Position: diag.Position{File: c.show(name), Line: line}, Severity: diag.Error, Rule: rule, Problem: text, Fix: fix,
	})
}

// warn records a warning about a file.
func (c *content) warn(at diag.Position, rule, text, fix string) {
	c.findings = append(c.findings, diag.Finding{Position: at, Severity: diag.Warning, Rule: rule, Problem: text, Fix: fix})
}

// problems records the problems of reading a file.
func (c *content) problems(rule, fix string, problems diag.Findings) {
	for _, p := range problems {
		c.findings = append(c.findings, diag.Finding{Position: p.Position, Severity: diag.Error, Rule: rule, Problem: p.Problem, Fix: fix})
	}
}

// read reads a file of the bundle. If it reports false, it has recorded a finding.
func (c *content) read(name string) ([]byte, bool) {
	info, err := fs.Stat(c.fsys, name)
	if err != nil {
		c.unreadable(name, err)
		return nil, false
	}
	switch {
	case !info.Mode().IsRegular():
		c.bad(name, 0, "file-type", "is not a regular file", "replace it by a regular file")
		return nil, false
	case info.Size() > maxFile:
		c.bad(name, 0, "file-size", fmt.Sprintf("has %d bytes, and the limit is %d", info.Size(), maxFile),
			"remove everything but the manifest; OLM accepts 1 MiB for all files of a bundle")
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
	err = diag.Cause(err)
	if strings.Contains(err.Error(), "escapes") {
		c.bad(name, 0, "symlink", "is a symbolic link out of the bundle", "copy the file into the bundle: an image does not contain the target of the link")
		return
	}
	c.bad(name, 0, "file-access", "cannot be read: "+err.Error(), "")
}

// list returns the entries of a directory, none if it is missing.
func (c *content) list(name string) []fs.DirEntry {
	entries, err := fs.ReadDir(c.fsys, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.unreadable(name, err)
	}
	if len(entries) > maxFiles {
		c.bad(name, 0, "file-count", fmt.Sprintf("has %d files, and the limit is %d", len(entries), maxFiles), "")
		entries = entries[:maxFiles]
	}
	return entries
}

func describe(obj manifest.Object) string { return strings.TrimSpace(obj.Kind() + " " + obj.Name()) }
