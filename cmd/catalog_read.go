package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
)

// folder is a folder of the disk as a file system of its own.
func (a *app) folder(dir string) fs.FS {
	return afero.NewIOFS(afero.NewBasePathFs(a.FS, dir))
}

// catalogSources reads the bundles and gives them their images. The error holds everything that is wrong with
// them, together with problems.
func (a *app) catalogSources(ctx context.Context, root, dir string, there *catalog.Catalog, o *catalogOptions, problems diag.Findings) ([]*catalog.Source, error) {
	bundles := o.bundles
	if len(bundles) == 0 {
		bundles, dir = []string{defaultBundleDir}, root
	}
	var (
		sources  []*catalog.Source
		findings diag.Findings
		failures []error
	)
	for _, given := range bundles {
		name, ref, _ := strings.Cut(given, "=")
		opened, err := a.openBundle(ctx, dir, name, a.registries(o.registryOptions))
		switch {
		case is[*usageError](err):
			findings = append(findings, diag.Finding{Field: "--bundle", Value: name, Problem: err.Error()})
			continue
		case err != nil:
			failures = append(failures, err)
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
			var err error
			if ref, err = bundleImage(s, there, o); err != nil {
				findings = append(findings, diag.Finding{Field: "--image", Value: o.image, Problem: fmt.Sprintf("%v, or give it as --bundle %s=IMAGE", err, name)})
				continue
			}
		}
		if err := s.SetImage(ref, o.bundleObjects); err != nil {
			problems = append(problems, diag.Finding{Position: s.CSV(), Problem: err.Error()})
			continue
		}
		sources = append(sources, s)
	}
	if len(sources) > 1 && o.image != "" && !strings.Contains(o.image, "{{") {
		images := map[string]bool{}
		for _, s := range sources {
			if images[s.Image()] {
				findings = append(findings, diag.Finding{Field: "--image", Value: o.image, Problem: "would be the image of several bundles; put {{.Version}} into it, or give each as --bundle DIR=IMAGE"})
				break
			}
			images[s.Image()] = true
		}
	}
	if len(findings) == 0 && len(problems) == 0 {
		return sources, errors.Join(failures...)
	}
	return nil, errors.Join(append([]error{findings.Err(), problems.Err()}, failures...)...)
}

// bundleImage is the image of a bundle that comes without one.
func bundleImage(s *catalog.Source, there *catalog.Catalog, o *catalogOptions) (string, error) {
	if o.image == "" {
		ref := there.Image(s.Package, s.Name)
		if ref == "" {
			return "", fmt.Errorf("is required: the image of bundle %s is not known; give one for all bundles", s.Name)
		}
		return ref, nil
	}
	ref, err := fillImage(o.image, imageValues{Package: s.Package, Name: s.Name, Version: s.Version.String()})
	if err != nil {
		return "", fmt.Errorf("gives no image for bundle %s: it %w; correct it", s.Name, err)
	}
	return ref, nil
}
