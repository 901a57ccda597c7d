package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/image/reference"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// catalogOptions are the flags of generate catalog.
type catalogOptions struct {
	bundles, channels         []string
	image, defaultChannel     string
	template, format, baseImg string
	outputDir                 string
	// fromImage is --from-image.
	fromImage     string
	bundleObjects bool
	registryOptions
	// formatGiven tells whether --output was given.
	formatGiven bool
}

// defaultCatalogDir is where catalogs lie.
const defaultCatalogDir = "catalog"

func newGenerateCatalog(a *app) *cobra.Command {
	var o catalogOptions
	c := &cobra.Command{
		Use:   "catalog",
		Short: "Generate or extend a file-based catalog",
		Long: `Generate a file-based catalog for the Operator Lifecycle Manager (OLM) from bundles, and
catalog.Dockerfile for its image. If the catalog exists, the bundles are added to it: its content is
kept byte for byte, except for the channels that the bundles join and for bundles of the same name.

A bundle is a directory or an image. An image is read without Docker: from its registry, an OCI
layout or a tarball. Clusters pull bundles by the image that the catalog names. Give it as --bundle
DIR=IMAGE, or for all bundles as --image, in which {{.Package}}, {{.Name}} and {{.Version}} are
replaced; a bundle that is in the catalog keeps its image. The annotation containerImage of a CSV
names the operator's image, not the bundle's, and is not used.

--template basic takes the upgrades from the CSVs: replaces, skips and the annotation olm.skipRange.
--template semver derives channels such as stable-v1.2 and their upgrades from the versions of all
bundles in them; its channels are candidate, fast and stable.

--from-image starts a new catalog with the one in an image, and adds the bundles to it.

Nothing is written unless every channel has one head that all its bundles upgrade to.`,
		Example: fmt.Sprintf(`  # The project's bundle, in the channels of its annotations:
  %[1]s generate catalog --image quay.io/example/memcached-operator-bundle:v0.0.1

  # Several versions, with a pattern for their images:
  %[1]s generate catalog --bundle released/0.0.1,released/0.0.2 --image 'quay.io/example/{{.Package}}-bundle:v{{.Version}}'

  # Channels by version:
  %[1]s generate catalog --bundle bundle=quay.io/example/memcached-operator-bundle:v0.0.2 --template semver --channel candidate,stable`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.formatGiven = c.Flags().Changed("output")
			return o.within(c, func() error { return a.runGenerateCatalog(c.Context(), o) })
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.bundles, "bundle", nil, "`bundles`, each as DIR, DIR=IMAGE or IMAGE (default: bundle)")
	f.StringVar(&o.image, "image", "", "`image` of bundles without one in --bundle; may contain {{.Package}}, {{.Name}}, {{.Version}}")
	f.StringSliceVar(&o.channels, "channel", nil, "`channels` to add the bundles to (default: those in their annotations)")
	f.StringVar(&o.defaultChannel, "default-channel", "", "default `channel` of the package (default: from the catalog or the annotations)")
	f.StringVar(&o.template, "template", string(catalog.Basic), "source of the upgrades: CSVs (basic) or version numbers (semver)")
	f.StringVarP(&o.format, "output", "o", string(catalog.YAML), "format of new files")
	f.StringVar(&o.outputDir, "output-dir", "", "`directory` of the catalog (default: catalog)")
	f.StringVar(&o.baseImg, "base-image", catalog.BaseImage, "`image` with opm for a new catalog.Dockerfile")
	f.StringVar(&o.fromImage, "from-image", "", "`image` of the catalog to start from if --output-dir contains none")
	f.BoolVar(&o.bundleObjects, "bundle-objects", false, "include all manifests of a bundle (olm.bundle.object) instead of the CSV's metadata, for old versions of OLM")
	completeValues(c, "template", string(catalog.Basic), string(catalog.Semver))
	completeValues(c, "output", string(catalog.YAML), string(catalog.JSON))
	o.registryOptions.addTo(f)
	return c
}

// imageValues are what --image may hold, by the names that opm gives them.
type imageValues struct{ Package, Name, Version string }

// check finds what is wrong with the flags, before anything is read.
func (o *catalogOptions) check() (findings diag.Findings) {
	findings = o.registryOptions.check()
	add := func(flag, value, problem string) {
		findings = append(findings, diag.Finding{Field: flag, Value: value, Problem: problem})
	}
	if o.template != string(catalog.Basic) && o.template != string(catalog.Semver) {
		add("--template", o.template, "must be basic or semver")
	}
	if o.format != string(catalog.YAML) && o.format != string(catalog.JSON) {
		add("--output", o.format, "must be yaml or json")
	}
	for _, channel := range o.channels {
		problem := channelProblem(channel)
		if problem == "" && o.template == string(catalog.Semver) && !slices.Contains(catalog.Archetypes(), channel) {
			problem = "is no channel of the semver template; it has " + strings.Join(catalog.Archetypes(), ", ")
		}
		if problem != "" {
			add("--channel", channel, problem)
		}
	}
	if problem := channelProblem(o.defaultChannel); problem != "" && o.defaultChannel != "" {
		add("--default-channel", o.defaultChannel, problem)
	}
	if o.image != "" {
		if _, err := fillImage(o.image, imageValues{"p", "p.v1.0.0", "1.0.0"}); err != nil {
			add("--image", o.image, err.Error())
		}
	}
	for _, given := range o.bundles {
		dir, ref, ok := strings.Cut(given, "=")
		if dir == "" {
			add("--bundle", given, "must be DIR or DIR=IMAGE")
		}
		if ok {
			findings = append(findings, project.CheckImage("--bundle "+dir, ref)...)
		}
	}
	return append(findings, project.CheckImage("--base-image", o.baseImg)...)
}

// fillImage fills in the pattern of --image.
func fillImage(pattern string, values imageValues) (string, error) {
	t, err := template.New("image").Parse(pattern)
	if err != nil {
		return "", fmt.Errorf("is no valid pattern: %s; it may hold {{.Package}}, {{.Name}} and {{.Version}}", strings.TrimPrefix(err.Error(), "template: image:1: "))
	}
	var b strings.Builder
	if err := t.Execute(&b, values); err != nil {
		return "", errors.New("may hold {{.Package}}, {{.Name}} and {{.Version}} only")
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

func (a *app) runGenerateCatalog(ctx context.Context, o catalogOptions) error {
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	root, err := project.FindRoot(a.FS, dir)
	if errors.Is(err, project.ErrNotAProject) {
		root, err = dir, nil // a repository of catalogs needs no project
	}
	if err != nil {
		return err
	}
	if findings := append(o.check(), a.checkSourceImage("--from-image", dir, o.fromImage)...); len(findings) > 0 {
		return findings
	}
	if err := o.placeCatalog(root, dir); err != nil {
		return err
	}
	if done, err := a.settle(ctx, root); done || err != nil {
		return err
	}
	var notes []string
	err = a.apply(ctx, root, func(tree *worktree.Tree) error {
		notes, err = a.addToCatalog(ctx, tree, dir, &o)
		return err
	})
	if err != nil {
		return err
	}
	for _, note := range notes {
		a.notef("note: %s", note)
	}
	return nil
}

// placeCatalog finds the catalog's folder as seen from root.
func (o *catalogOptions) placeCatalog(root, dir string) error {
	given := o.outputDir
	if given == "" {
		given, dir = defaultCatalogDir, root
	}
	rel, err := fromRoot(root, dir, given)
	if err != nil {
		return err
	}
	if rel == "." || isOutside(rel) {
		return diag.Findings{{Field: "--output-dir", Value: given, Problem: "must be a folder below that of the project, where " + catalog.DockerfileName + " can reach it and holds nothing else"}}
	}
	o.outputDir = rel
	return nil
}

// addToCatalog reads the catalog and the bundles, and lays the changed files over the tree.
func (a *app) addToCatalog(ctx context.Context, tree *worktree.Tree, dir string, o *catalogOptions) (notes []string, err error) {
	abs := filepath.Join(tree.Root(), filepath.FromSlash(o.outputDir))
	if info, err := a.FS.Stat(abs); err == nil && !info.IsDir() {
		return nil, &worktree.BlockedError{At: o.outputDir, Problem: "is a file, but must be a directory"}
	}
	there, problems := catalog.Load(a.folder(abs), o.outputDir)
	switch {
	case o.fromImage == "":
	case there.Empty() && len(problems) == 0:
		if there, problems, err = a.copyCatalog(ctx, tree, dir, o); err != nil {
			return nil, err
		}
	default:
		notes = append(notes, fmt.Sprintf("%s holds a catalog already, so --from-image is not read; remove the directory to start with that of the image", o.outputDir))
	}
	sources, err := a.catalogSources(ctx, tree.Root(), dir, there, o, problems)
	if err != nil {
		return nil, err
	}
	added, err := there.Add(ctx, sources, catalog.Options{
		Channels: o.channels, DefaultChannel: o.defaultChannel,
		Template: catalog.Template(o.template), Format: catalog.Format(o.format), FormatGiven: o.formatGiven,
	})
	if err != nil {
		return nil, err
	}
	for name, data := range added.Files {
		tree.WriteFile(path.Join(o.outputDir, name), data, 0o644)
	}
	notes = append(notes, added.Notes...)
	data, err := tree.ReadFile(catalog.DockerfileName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		data, err := catalog.Dockerfile(o.outputDir, o.baseImg)
		if err != nil {
			return nil, err
		}
		tree.WriteFile(catalog.DockerfileName, data, 0o644)
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", catalog.DockerfileName, reason(err))
	case !strings.Contains(string(data), o.outputDir):
		notes = append(notes, fmt.Sprintf("%s is kept as it is, and does not name %s: it builds the image of another catalog", catalog.DockerfileName, o.outputDir))
	}
	return notes, nil
}

// copyCatalog copies the catalog of --from-image into the tree, and loads it.
func (a *app) copyCatalog(ctx context.Context, tree *worktree.Tree, dir string, o *catalogOptions) (*catalog.Catalog, diag.Findings, error) {
	files, err := image.OpenCatalog(ctx, o.fromImage, image.Options{Registries: a.registries(o.registryOptions), FS: a.FS, Dir: dir})
	if err != nil {
		return nil, nil, fmt.Errorf("--from-image: %w", err)
	}
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err == nil {
			tree.WriteFile(path.Join(o.outputDir, name), data, 0o644)
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("--from-image %q: %w", o.fromImage, err)
	}
	loaded, problems := catalog.Load(files, o.outputDir)
	return loaded, problems, nil
}
