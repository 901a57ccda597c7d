package bundles

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// MigrateOptions are the options of MigratePackageManifests.
type MigrateOptions struct {
	// Dir contains the package manifests, and OutputDir, which must not exist, receives the bundles.
	Dir, OutputDir string
	// CheckTag returns the problem of a version's name as the tag of an image; nil if no images are built from the bundles.
	CheckTag func(tag string) error
}

// A Migration is the result of MigratePackageManifests.
type Migration struct {
	*action.Result
	Bundles []MigratedBundle
}

// A MigratedBundle is the bundle of one version.
type MigratedBundle struct {
	Version string
	// Name is the name of the directory with the bundle and its Dockerfile, and Dir its absolute path.
	Name, Dir string
}

// MigratePackageManifests converts each version of a package to a bundle. There need not be a project.
func MigratePackageManifests(ctx context.Context, config action.Config, o MigrateOptions) (*Migration, error) {
	root, out, err := locateBundles(&config, o.OutputDir)
	if err != nil {
		return nil, err
	}
	p, err := action.Open(ctx, config, root)
	if errors.Is(err, action.ErrCompleted) && o.CheckTag != nil { // the images of the bundles may be missing
		p, err = action.Open(ctx, config, root)
	}
	if err != nil {
		return nil, err
	}
	defer p.Close()
	switch exists, err := afero.Exists(p.FS, p.Absolute(o.OutputDir)); {
	case err != nil:
		return nil, fmt.Errorf("--output-dir %q: %w", o.OutputDir, diag.Cause(err))
	case exists:
		return nil, diag.Findings{{Field: "--output-dir", Value: o.OutputDir, Problem: "already exists; remove it, or name a new directory"}}
	}
	bundles, err := convertPackage(p, o)
	if err != nil {
		return nil, err
	}
	migration := &Migration{}
	migration.Result, err = p.Update(ctx, func(tree *worktree.Tree) error {
		for _, b := range bundles {
			for name, content := range b.Files {
				tree.WriteFile(path.Join(out, "bundle-"+b.Version, name), content, 0o644)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, b := range bundles {
		name := "bundle-" + b.Version
		migration.Bundles = append(migration.Bundles, MigratedBundle{b.Version, name, filepath.Join(p.Root, filepath.FromSlash(out), name)})
	}
	return migration, nil
}

// locateBundles returns the root of the transaction: the project or the directory of the caller if it contains the output directory,
// otherwise the nearest existing parent. It also returns the output directory relative to the root.
func locateBundles(c *action.Config, outputDir string) (root, rel string, err error) {
	var roots []string
	if found, err := project.FindRoot(c.FS, c.Dir); err == nil {
		roots = append(roots, found)
	}
	for _, root = range append(roots, c.Dir, NearestDirectory(c.FS, c.Absolute(outputDir))) {
		if rel, err = c.RelativeTo(root, outputDir); err == nil && !action.IsOutside(rel) {
			break
		}
	}
	return root, rel, err
}

// NearestDirectory returns the nearest existing directory of an absolute path and its parents.
func NearestDirectory(fsys afero.Fs, name string) string {
	for name != filepath.Dir(name) {
		if exists, _ := afero.DirExists(fsys, name); exists { // a later step reports errors
			break
		}
		name = filepath.Dir(name)
	}
	return name
}

// convertPackage reads the package and converts its versions in memory.
func convertPackage(p *action.Project, o MigrateOptions) ([]bundle.Converted, error) {
	r := &packageReader{Config: &p.Config}
	pkg, versions, err := r.read(o.Dir)
	if err != nil {
		return nil, err
	}
	for i, c := range pkg.Channels {
		if problem := channelProblem(c.Name); problem != "" {
			r.problems.Addf(pkg.Locate("channels", fmt.Sprint(i), "name"), "the channel %q %s", c.Name, problem)
		}
	}
	if o.CheckTag != nil {
		for _, v := range versions {
			if err := o.CheckTag(path.Base(v.Dir)); err != nil {
				r.problems.Addf(diag.Position{File: v.Dir}, "an image %s", err)
			}
		}
	}
	bundles, notes, err := bundle.Convert(pkg, versions, builder(p))
	problems, ok := err.(diag.Findings)
	if err != nil && !ok {
		return nil, err
	}
	if problems = append(r.problems, problems...); len(problems) > 0 {
		return nil, problems
	}
	return bundles, reportNotes(p, append(r.notes, notes...), false)
}
