package bundles

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image/reference"
	"github.com/operon-sdk/operon/pkg/project"
)

// readBundles reads the bundles and sets their images. The error contains all problems of the bundles and of the catalog.
func (r *catalogRun) readBundles(ctx context.Context, current *catalog.Catalog, problems diag.Findings) ([]*catalog.Source, error) {
	bundles, dir := r.Bundles, r.Dir
	if len(bundles) == 0 {
		bundles, dir = []string{project.BundleDir}, r.Root
	}
	var (
		sources  []*catalog.Source
		findings diag.Findings
		failures []error
	)
	for _, given := range bundles {
		name, ref, _ := strings.Cut(given, "=")
		opened, err := r.OpenBundle(ctx, dir, name)
		more, err := asFindings(err)
		if len(more) > 0 {
			findings = append(findings, more...)
			continue
		}
		if err != nil {
			failures = append(failures, err)
			continue
		}
		defer opened.Close()
		if ref == "" {
			ref = opened.Ref
		}
		s, found := catalog.ReadBundle(opened.FS, filepath.ToSlash(name))
		problems = append(problems, found...)
		if s == nil {
			continue
		}
		if ref == "" {
			if ref, err = r.bundleImage(s, current); err != nil {
				findings.Add("--image", r.Image, fmt.Sprintf("%v, or pass it as --bundle %s=IMAGE", err, name))
				continue
			}
		}
		if err := s.SetImage(ref, r.BundleObjects); err != nil {
			problems = append(problems, diag.Finding{Position: s.CSV(), Problem: err.Error()})
			continue
		}
		sources = append(sources, s)
	}
	if len(sources) > 1 && r.Image != "" && !strings.Contains(r.Image, "{{") {
		images := map[string]bool{}
		for _, s := range sources {
			if images[s.Image()] {
				findings = append(findings, diag.Finding{Field: "--image", Value: r.Image, Problem: "would be the image of several bundles; add {{.Version}}, or pass each as --bundle DIR=IMAGE"})
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

// bundleImage returns the image of a bundle that is given without one.
func (r *catalogRun) bundleImage(s *catalog.Source, current *catalog.Catalog) (string, error) {
	if r.Image == "" {
		ref := current.Image(s.Package, s.Name)
		if ref == "" {
			return "", fmt.Errorf("is required: the image of bundle %s is not known; pass one for all bundles", s.Name)
		}
		return ref, nil
	}
	ref, err := fillImage(r.Image, imageValues{Package: s.Package, Name: s.Name, Version: s.Version.String()})
	if err != nil {
		return "", fmt.Errorf("does not result in an image for bundle %s: it %w; correct it", s.Name, err)
	}
	return ref, nil
}

// imageValues are the values in the pattern of an image, under their names in opm.
type imageValues struct{ Package, Name, Version string }

// fillImage returns the image of a pattern.
func fillImage(pattern string, values imageValues) (string, error) {
	t, err := template.New("image").Parse(pattern)
	if err != nil {
		return "", fmt.Errorf("is not a valid pattern: %s; it may contain {{.Package}}, {{.Name}} and {{.Version}}", strings.TrimPrefix(err.Error(), "template: image:1: "))
	}
	var b strings.Builder
	if err := t.Execute(&b, values); err != nil {
		return "", errors.New("may contain only {{.Package}}, {{.Name}} and {{.Version}}")
	}
	problem := reference.Check(b.String())
	switch {
	case problem != nil && strings.Contains(values.Version, "+"):
		return "", fmt.Errorf("becomes %q, and a tag cannot have the + of version %s", b.String(), values.Version)
	case problem != nil:
		return "", fmt.Errorf("becomes %q, which %w", b.String(), problem)
	}
	return b.String(), nil
}
