package bundles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// CatalogOptions are the options of GenerateCatalog.
type CatalogOptions struct {
	// Bundles are the bundles to add, as DIR, DIR=IMAGE or IMAGE; empty means the project's bundle.
	Bundles []string
	// Image is the image of bundles without one in Bundles. It may contain {{.Package}}, {{.Name}} and {{.Version}}.
	Image string
	// Channels are the channels of the bundles; empty means the channels in their annotations. DefaultChannel may be empty.
	Channels       []string
	DefaultChannel string
	// Template is basic or semver, and Format the format of new files, yaml or json. FormatGiven makes it an error if existing
	// files have the other format.
	Template, Format string
	FormatGiven      bool
	// OutputDir contains the catalog; empty means the scaffold's directory. BaseImage is the image with opm for a new Dockerfile.
	OutputDir, BaseImage string
	// FromImage is the image of a catalog to start from, or empty.
	FromImage string
	// BundleObjects includes all manifests of bundles instead of the metadata of the CSV.
	BundleObjects bool
	// OpenBundle opens a bundle, in a directory relative to dir or in an image. Errors that are diag.Findings are about name.
	OpenBundle func(ctx context.Context, dir, name string) (*image.Bundle, error)
	// OpenCatalog opens the catalog in FromImage.
	OpenCatalog func(ctx context.Context, ref string) (fs.FS, error)
	// Findings are the caller's findings about its flags, which are returned together with the findings about the options.
	Findings diag.Findings
}

// A catalogRun contains the options of GenerateCatalog and the project.
type catalogRun struct {
	*action.Project
	CatalogOptions
	// outputDir is relative to the root.
	outputDir string
}

// GenerateCatalog adds bundles to a file-based catalog, or creates one, with its Dockerfile. There need not be a PROJECT file.
func GenerateCatalog(ctx context.Context, p *action.Project, o CatalogOptions) (*action.Result, error) {
	r := &catalogRun{Project: p, CatalogOptions: o}
	if err := r.check().Err(); err != nil {
		return nil, err
	}
	if err := r.locate(); err != nil {
		return nil, err
	}
	var notes []string
	result, err := p.Update(ctx, func(tree *worktree.Tree) (err error) {
		notes, err = r.addBundles(ctx, tree)
		return err
	})
	if err != nil {
		return nil, err
	}
	result.Notes = append(result.Notes, notes...)
	return result, nil
}

// check validates the options before anything is read.
func (r *catalogRun) check() diag.Findings {
	findings := slices.Clone(r.Findings)
	isSemver := r.Template == string(catalog.Semver)
	if r.Template != string(catalog.Basic) && !isSemver {
		findings.Add("--template", r.Template, "must be basic or semver")
	}
	if r.Format != string(catalog.YAML) && r.Format != string(catalog.JSON) {
		findings.Add("--output", r.Format, "must be yaml or json")
	}
	for _, channel := range r.Channels {
		problem := channelProblem(channel)
		if problem == "" && isSemver && !slices.Contains(catalog.Archetypes(), channel) {
			problem = "is not a channel of the semver template, which has " + strings.Join(catalog.Archetypes(), ", ")
		}
		if problem != "" {
			findings.Add("--channel", channel, problem)
		}
	}
	if problem := channelProblem(r.DefaultChannel); problem != "" && r.DefaultChannel != "" {
		findings.Add("--default-channel", r.DefaultChannel, problem)
	}
	if r.Image != "" {
		if _, err := fillImage(r.Image, imageValues{"p", "p.v1.0.0", "1.0.0"}); err != nil {
			findings.Add("--image", r.Image, err.Error())
		}
	}
	for _, given := range r.Bundles {
		dir, ref, ok := strings.Cut(given, "=")
		if dir == "" {
			findings.Add("--bundle", given, "must be DIR or DIR=IMAGE")
		}
		if ok {
			findings = append(findings, project.CheckImage("--bundle "+dir, ref)...)
		}
	}
	return append(findings, project.CheckImage("--base-image", r.BaseImage)...)
}

// locate sets the directory of the catalog relative to the root.
func (r *catalogRun) locate() (err error) {
	r.outputDir = project.CatalogDir
	if r.OutputDir == "" {
		return nil
	}
	if r.outputDir, err = r.FromRoot(r.OutputDir); err != nil {
		return err
	}
	if r.outputDir == "." || action.IsOutside(r.outputDir) {
		return diag.Findings{{Field: "--output-dir", Value: r.OutputDir, Problem: "must be a subdirectory of the project for the catalog alone, which " + catalog.DockerfileName + " can copy"}}
	}
	return nil
}

// addBundles reads the catalog and the bundles and writes the changed files into a tree. It returns notes.
func (r *catalogRun) addBundles(ctx context.Context, tree *worktree.Tree) (notes []string, err error) {
	abs := filepath.Join(tree.Root(), filepath.FromSlash(r.outputDir))
	if info, err := r.FS.Stat(abs); err == nil && !info.IsDir() {
		return nil, &worktree.BlockedError{At: r.outputDir, Problem: "is a file, but must be a directory"}
	}
	current, problems := catalog.Load(afero.NewIOFS(afero.NewBasePathFs(r.FS, abs)), r.outputDir)
	switch {
	case r.FromImage == "":
	case current.Empty() && len(problems) == 0:
		if current, problems, err = r.copyCatalog(ctx, tree); err != nil {
			return nil, err
		}
	default:
		notes = append(notes, fmt.Sprintf("note: %s already contains a catalog, so --from-image is not read; remove the directory to start with the image's catalog", r.outputDir))
	}
	sources, err := r.readBundles(ctx, current, problems)
	if err != nil {
		return nil, err
	}
	added, err := current.Add(ctx, sources, catalog.Options{
		Channels: r.Channels, DefaultChannel: r.DefaultChannel,
		Template: catalog.Template(r.Template), Format: catalog.Format(r.Format), FormatGiven: r.FormatGiven,
	})
	if err != nil {
		return nil, err
	}
	for name, data := range added.Files {
		tree.WriteFile(path.Join(r.outputDir, name), data, 0o644)
	}
	for _, note := range added.Notes {
		notes = append(notes, "note: "+note)
	}
	data, err := tree.ReadFile(catalog.DockerfileName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		data, err := catalog.Dockerfile(r.outputDir, r.BaseImage)
		if err != nil {
			return nil, err
		}
		tree.WriteFile(catalog.DockerfileName, data, 0o644)
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", catalog.DockerfileName, diag.Cause(err))
	case !strings.Contains(string(data), r.outputDir):
		notes = append(notes, fmt.Sprintf("note: %s was kept, and does not name %s: it builds the image of another catalog", catalog.DockerfileName, r.outputDir))
	}
	return notes, nil
}

// copyCatalog copies the catalog of FromImage into a tree, and returns it with its problems.
func (r *catalogRun) copyCatalog(ctx context.Context, tree *worktree.Tree) (*catalog.Catalog, diag.Findings, error) {
	files, err := r.OpenCatalog(ctx, r.FromImage)
	if err != nil {
		return nil, nil, fmt.Errorf("--from-image: %w", err)
	}
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err == nil {
			tree.WriteFile(path.Join(r.outputDir, name), data, 0o644)
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("--from-image %q: %w", r.FromImage, err)
	}
	loaded, problems := catalog.Load(files, r.outputDir)
	return loaded, problems, nil
}
