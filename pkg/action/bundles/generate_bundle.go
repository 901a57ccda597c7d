package bundles

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// SourceOptions are the options for the manifests of a bundle, or of a version in the package manifest format.
type SourceOptions struct {
	// Package is the name of the package; empty means the project's name.
	Package string
	// DeployDir and CRDsDir contain the operator's manifests. Without them, these are read from Stdin or built from the
	// kustomization in KustomizeDir.
	DeployDir, CRDsDir string
	// KustomizeDir contains the kustomization and the base, and OutputDir the result. Empty means the scaffold's directories.
	KustomizeDir, OutputDir string
	// ExistingRoles are roles of clusters that the operator's accounts are bound to.
	ExistingRoles []string
	// Strict makes it an error if the result lacks a part of the input.
	Strict bool
	Stdin  Stdin
	// Findings are the caller's findings about its flags, which are returned together with the findings about the options.
	Findings diag.Findings
}

// GenerateOptions are the options of Generate.
type GenerateOptions struct {
	SourceOptions
	// Version is the version of the bundle; empty means the base's version.
	Version string
	// Channels is a comma-separated list. DefaultChannel may be empty.
	Channels, DefaultChannel string
	// InputDir contains the operator's manifests; it replaces DeployDir and CRDsDir.
	InputDir string
	// ServiceAccounts are accounts without a Deployment whose permissions the CSV includes.
	ServiceAccounts []string
	// Manifests and Metadata select the parts to generate; without any, both are generated.
	Manifests, Metadata bool
	// KeepMetadata keeps existing metadata and the Dockerfile.
	KeepMetadata bool
	// Digest returns the digest of an image, and image.ErrUnreachable if its registry cannot be reached; nil keeps image references.
	Digest func(ctx context.Context, ref string) (string, error)
	// DigestsSetAt is the place that turned on digests instead of a flag of the user, or nothing.
	DigestsSetAt diag.Position
}

// A bundleRun contains the options of a command that generates a bundle, and what was resolved from them.
type bundleRun struct {
	*action.Project
	GenerateOptions
	// layout is the layout of the project.
	layout string
	// kustomizeDir, buildDir, outputDir and copyDir are relative to the root. kustomizeDir has the base, and buildDir is the
	// kustomization to build; copyDir is outputDir in the form of the option.
	kustomizeDir, buildDir, outputDir, copyDir string
	// loose lets kustomizations read files of the project in other directories.
	loose bool
	// build builds the kustomization instead of reading Stdin; pipeToo reads Stdin in addition to directories.
	build, pipeToo bool
	// image is the image of the manager that the kustomization must use, or empty.
	image string
	// replaces is the CSV that this one replaces; empty means the one that the base names.
	replaces string
	// digests are the digests of images, or nil.
	digests *imageDigests
}

// Generate updates the bundle: the CSV, the other manifests, the metadata and the Dockerfile.
func Generate(ctx context.Context, p *action.Project, o GenerateOptions) (*action.Result, error) {
	b, err := resolveGenerateBundle(ctx, p, o, false)
	if err != nil {
		return nil, err
	}
	if err := b.bufferStdin(); err != nil {
		return nil, err
	}
	return update(ctx, b.Project, b.outputDir, b.outputDir, func(tree *worktree.Tree) (*bundle.Updated, error) {
		// The user may have edited PROJECT while the input was read.
		b.Package = o.Package
		if err := b.readProject(); err != nil {
			return nil, err
		}
		generated, err := b.generate(ctx, tree)
		if err != nil {
			return nil, err
		}
		return b.write(tree, generated)
	})
}

// Render returns the manifests of the bundle as a YAML stream, without changing the project.
func Render(ctx context.Context, p *action.Project, o GenerateOptions) ([]byte, error) {
	b, err := resolveGenerateBundle(ctx, p, o, true)
	if err != nil {
		return nil, err
	}
	generated, err := b.generate(ctx, p.Files)
	if generated == nil || err != nil {
		return nil, err
	}
	return renderManifests(p, generated)
}

func resolveGenerateBundle(ctx context.Context, p *action.Project, o GenerateOptions, render bool) (*bundleRun, error) {
	b := &bundleRun{Project: p, GenerateOptions: o}
	err := b.readProject()
	findings := b.check(o.Stdin.Pipe)
	if render && b.Manifests && o.OutputDir != "" {
		findings.Add("--output-dir", o.OutputDir, "excludes --stdout, which writes nothing to disk")
	}
	if err != nil {
		return nil, errors.Join(err, findings.Err())
	}
	if err := b.locateKustomization(); err != nil {
		return nil, err
	}
	outside, err := asFindings(b.locateOutput())
	if err != nil {
		return nil, err
	}
	if findings = append(findings, outside...); len(findings) > 0 {
		return nil, errors.Join(findings, b.inputProblems(ctx, p.Files))
	}
	return b, nil
}

// readProject reads the package and the layout from PROJECT. Without a project, the package must be given.
func (b *bundleRun) readProject() error {
	if _, err := project.FindRoot(b.FS, b.Root); errors.Is(err, project.ErrNotAProject) {
		if b.Package == "" {
			return fmt.Errorf("%w; to generate a bundle without a project, name its package with --package", err)
		}
		b.layout = "unknown"
		return nil
	} else if err != nil {
		return err
	}
	b.Refresh()
	data, err := b.Files.ReadFile(project.FileName)
	if err != nil {
		return fmt.Errorf("reading %s: %w", project.FileName, diag.Cause(err))
	}
	config, err := project.ParseWithoutLayout(data)
	if err != nil {
		return err
	}
	if b.Package == "" {
		b.Package = config.ProjectName()
	}
	if b.Package == "" {
		return diag.Findings{{Field: "--package", Problem: "is required: PROJECT has no projectName"}}
	}
	b.layout = strings.Join(config.Layout(), ",")
	return nil
}

func (b *bundleRun) locateKustomization() (err error) {
	b.kustomizeDir = project.ManifestsDir
	if b.KustomizeDir != "" {
		b.kustomizeDir, err = b.FromRoot(b.KustomizeDir)
	}
	b.buildDir = b.kustomizeDir
	return err
}

func (b *bundleRun) locateOutput() (err error) {
	given, dir := b.OutputDir, b.Dir
	if given == "" {
		given, dir = project.BundleDir, b.Root
		b.outputDir = given
	} else if b.outputDir, err = b.FromRoot(given); err != nil {
		return err
	}
	if action.IsOutside(b.outputDir) && b.Metadata {
		return diag.Findings{{Field: "--output-dir", Value: given, Problem: "is outside of the project, where bundle.Dockerfile cannot copy from; pass --manifests to write only the manifests"}}
	}
	b.copyDir = b.outputDir
	if dir == b.Root && !filepath.IsAbs(given) { // the Dockerfile contains the directory as given
		b.copyDir = filepath.ToSlash(given)
	}
	return nil
}

// generate returns the manifests of the bundle, or nil if only metadata is generated.
func (b *bundleRun) generate(ctx context.Context, tree *worktree.Tree) (*bundle.Manifests, error) {
	if !b.Manifests {
		return nil, nil
	}
	return b.generateManifests(ctx, tree)
}

// readInput reads the input of the bundle.
func (b *bundleRun) readInput(ctx context.Context, tree *worktree.Tree) (bundle.Input, diag.Findings, error) {
	input := bundle.Input{
		Package: b.Package, Version: b.Version, Layout: b.layout, Builder: builder(b.Project),
		ServiceAccounts: b.ServiceAccounts, ExistingRoles: b.ExistingRoles, Replaces: b.replaces,
		Marker: b.Roles.Marker,
	}
	objects, notes, err := b.readObjects(ctx, tree)
	problems, ok := err.(diag.Findings)
	if err != nil && !ok {
		return input, nil, err
	}
	csv, err := b.readBase(tree)
	if more, ok := err.(diag.Findings); ok {
		problems = append(problems, more...)
	} else if err != nil {
		return input, nil, err
	}
	if len(problems) > 0 {
		return input, nil, append(problems, bundle.Check(objects)...)
	}
	input.Objects, input.Base = objects, csv
	return input, notes, nil
}

// inputProblems returns the problems of the input for invalid options, so that all problems are reported together, unless the
// source of the input is unclear.
func (b *bundleRun) inputProblems(ctx context.Context, tree *worktree.Tree) error {
	if !b.Manifests || len(b.checkSources(b.Stdin.Pipe && !b.pipeToo)) > 0 {
		return nil
	}
	input, _, err := b.readInput(ctx, tree)
	if err != nil {
		return err
	}
	if packageProblem(b.Package) != "" {
		return bundle.Check(input.Objects).Err()
	}
	if VersionProblem(b.Version) != "" {
		input.Version = "0.0.0" // already reported
	}
	_, err = bundle.Generate(input)
	return err
}

// asFindings returns the findings in an error that user input caused, or another error.
func asFindings(err error) (diag.Findings, error) {
	if findings, ok := errors.AsType[diag.Findings](err); ok && diag.IsUsage(findings) {
		return findings, nil
	}
	return nil, err
}

// generateManifests reads the input, generates the manifests and reports notes.
func (b *bundleRun) generateManifests(ctx context.Context, tree *worktree.Tree) (*bundle.Manifests, error) {
	input, notes, err := b.readInput(ctx, tree)
	if err != nil {
		return nil, err
	}
	if b.Digest != nil {
		if b.digests, err = b.readDigests(tree); err != nil {
			return nil, err
		}
		if b.DigestsSetAt.File != "" {
			input.PinnedBy = fmt.Sprintf("--use-image-digests, which %s sets", b.DigestsSetAt)
		}
		input.Pin = func(ref string) (string, error) { return b.digests.pin(ctx, ref) }
	}
	generated, err := bundle.Generate(input)
	if err != nil {
		return nil, err
	}
	generated.Notes = append(notes, generated.Notes...)
	if !b.Strict { // otherwise, it is an error
		generated.Notes = slices.DeleteFunc(generated.Notes, func(n diag.Finding) bool {
			return n.Rule != "" && slices.ContainsFunc(b.Roles.Reported, func(f diag.Finding) bool { return f.Position == n.Position && f.Rule == n.Rule })
		})
	}
	return generated, reportNotes(b.Project, generated.Notes, b.Strict)
}

// builder returns the name of this program in bundles.
func builder(p *action.Project) string { return "operon-" + p.Version }

// readBase reads the base CSV, nil if there is none.
func (b *bundleRun) readBase(tree *worktree.Tree) (*manifest.Object, error) {
	name := bundle.BaseFile(b.kustomizeDir, b.Package)
	data, err := tree.ReadOptional(name)
	if data == nil || err != nil {
		return nil, err
	}
	objects, problems := manifest.Decode(name, data)
	if len(problems) > 0 {
		return nil, problems
	}
	for i := range objects {
		if objects[i].Kind() == "ClusterServiceVersion" {
			return &objects[i], nil
		}
	}
	return nil, diag.Findings{{Position: diag.Position{File: name}, Problem: "has no ClusterServiceVersion; restore the base CSV, or delete the file to start from placeholders"}}
}

// reportNotes reports notes about a bundle. If strict is set, dropped parts of the input are an error.
func reportNotes(p *action.Project, notes diag.Findings, strict bool) error {
	notes = slices.DeleteFunc(slices.Clone(notes), func(n diag.Finding) bool {
		if n.Severity == diag.Detail {
			p.Reportf(diag.Detail, "note: %s", n)
		}
		return n.Severity == diag.Detail
	})
	if len(notes) > diag.MaxListed { // dropped parts come first
		notes = slices.Concat(bundle.Losses(notes), slices.DeleteFunc(slices.Clone(notes), bundle.IsLoss))
	}
	listed, rest := diag.Shorten(notes, "note")
	var dropped diag.Findings
	for _, n := range listed {
		switch {
		case !bundle.IsLoss(n):
			p.Reportf(diag.Note, "note: %s", n)
		case !strict:
			p.ReportFindings(diag.Warning, n)
		default:
			dropped = append(dropped, n)
		}
	}
	for _, line := range rest {
		p.Reportf(diag.Progress, "%s", line)
	}
	if len(dropped) > 0 {
		return errors.Join(dropped, errors.New("--strict: the bundle would lack what the errors name; nothing was written"))
	}
	return nil
}

// creationTime returns the creation time for changed CSVs.
func creationTime(p *action.Project) time.Time {
	if !p.SourceDate.IsZero() || p.Now == nil {
		return p.SourceDate
	}
	return p.Now()
}
