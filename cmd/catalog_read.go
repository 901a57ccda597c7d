package cmd

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
)

// folder is a folder of the disk as a file system of its own.
func (a *app) folder(dir string) fs.FS {
	return afero.NewIOFS(afero.NewBasePathFs(a.FS, dir))
}

// catalogSources reads the bundles and gives them their images.
func (a *app) catalogSources(ctx context.Context, root, dir string, there *catalog.Catalog, o *catalogOptions) ([]*catalog.Source, manifest.Problems, project.Findings) {
	bundles := o.bundles
	if len(bundles) == 0 {
		bundles, dir = []string{defaultBundleDir}, root
	}
	var (
		sources  []*catalog.Source
		problems manifest.Problems
		findings project.Findings
	)
	for _, given := range bundles {
		name, ref, _ := strings.Cut(given, "=")
		opened, err := a.openBundle(ctx, dir, name, a.registries(o.registryOptions))
		if err != nil {
			findings = append(findings, project.Finding{Field: "--bundle", Value: name, Problem: err.Error()})
			continue
		}
		defer opened.Close()
		if ref == "" && opened.Image && image.IsReference(name) {
			ref = name
		}
		s, wrong := catalog.ReadBundle(opened.FS, filepath.ToSlash(name))
		problems = append(problems, wrong...)
		if s == nil {
			continue
		}
		if ref == "" {
			ref = a.bundleImage(s, there, o)
		}
		if ref == "" {
			findings = append(findings, project.Finding{Field: "--image", Problem: fmt.Sprintf(
				"is needed: the image of bundle %s is not known; give it as --bundle %s=IMAGE or --image IMAGE", s.Name, name)})
			continue
		}
		if err := s.SetImage(ref, o.bundleObjects); err != nil {
			problems = append(problems, manifest.Problem{Position: s.CSV(), Text: err.Error()})
			continue
		}
		sources = append(sources, s)
	}
	if len(sources) > 1 && o.image != "" && !strings.Contains(o.image, "{{") {
		images := map[string]bool{}
		for _, s := range sources {
			if images[s.Image()] {
				findings = append(findings, project.Finding{Field: "--image", Value: o.image, Problem: "would be the image of several bundles; put {{.Version}} into it, or give each as --bundle DIR=IMAGE"})
				break
			}
			images[s.Image()] = true
		}
	}
	return sources, problems, findings
}

// bundleImage is the image of a bundle that comes without one, empty where none is known.
func (a *app) bundleImage(s *catalog.Source, there *catalog.Catalog, o *catalogOptions) string {
	if o.image == "" {
		if there == nil {
			return ""
		}
		return there.Image(s.Package, s.Name)
	}
	ref, err := fillImage(o.image, imageValues{Package: s.Package, Name: s.Name, Version: s.Version.String()})
	if err != nil { // a version with a sign that a tag cannot have, such as +
		return ""
	}
	return ref
}
