package bundles

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/spf13/afero"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/bundle/validate"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Options are the options of Bundle. Empty versions and channels mean the existing bundle's.
type Options struct {
	GenerateOptions
	// Base are the options of the base. Its directories are by default KustomizeDir, and its package is the bundle's.
	Base KustomizeOptions
	// Image is the manager's image to set in config/manager, or empty.
	Image string
	// Replaces is the name of the CSV that this one replaces, and SkipRange a range of versions that can be upgraded directly to
	// this one. Both are set in the base unless they are empty.
	Replaces, SkipRange string
	// Build is the directory of the kustomization to build, KustomizeDir if it is empty. Source is the command of the Makefile that
	// Build is from; without Build, it names a command whose input is something else.
	Build  string
	Source diag.Position
	// Loose lets the kustomizations read files of the project in other directories.
	Loose bool
	// KeepBase keeps an existing base as it is.
	KeepBase bool
	// ProjectVersion is the version in the Makefile, which takes precedence if it is later than the existing bundle's.
	ProjectVersion string
}

// Bundle generates code and manifests, updates the base of the CSV, builds the kustomization and updates the bundle.
func Bundle(ctx context.Context, p *action.Project, o Options) (*action.Result, error) {
	var (
		b       *bundleRun
		base    *baseRun
		record  []byte
		updated *bundle.Updated
	)
	result, err := p.Update(ctx, func(tree *worktree.Tree) error {
		config, err := p.Load(action.AnyLayout)
		if err != nil {
			return err
		}
		if b, base, err = resolveBundle(p, tree, config, o); err != nil {
			return err
		}
		if config.HasKnownLayout() {
			if err := p.GenerateIn(ctx, tree, codegen.All); err != nil {
				return err
			}
		}
		if !o.KeepBase || !tree.Exists(base.input) {
			if record, err = generateBase(ctx, p, tree, base); err != nil {
				return err
			}
		}
		if b.image != "" {
			if err := setImage(ctx, tree, b.image); err != nil {
				return err
			}
		}
		b.layout = strings.Join(config.Layout(), ",")
		generated, err := b.generateManifests(ctx, tree)
		if err != nil {
			return err
		}
		if updated, err = b.write(tree, generated); err != nil {
			return err
		}
		if err := reportNotes(p, updated.Notes, false); err != nil {
			return err
		}
		return b.validate(ctx, tree)
	})
	if err == nil && !p.DryRun {
		recordBase(p, base, record)
		recordBundle(p, b.outputDir, updated)
	}
	return result, err
}

// Check validates the options of Bundle and returns the current base.
func Check(p *action.Project, o Options) (*CurrentBase, error) {
	p = silent(p)
	config, err := p.Load(action.AnyLayout)
	if err != nil {
		return nil, err
	}
	_, base, err := resolveBundle(p, p.Files, config, o)
	if err != nil {
		return nil, err
	}
	return currentBase(p, config, base)
}

// resolveBundle validates the options and completes them from the project and its bundle.
func resolveBundle(p *action.Project, tree *worktree.Tree, config *project.Config, o Options) (*bundleRun, *baseRun, error) {
	b := &bundleRun{Project: p, GenerateOptions: o.GenerateOptions, build: true, loose: o.Loose, image: o.Image}
	if err := b.locateBuild(tree, o.Build); err != nil {
		return nil, nil, err
	}
	base := &baseRun{KustomizeOptions: o.Base, replaces: o.Replaces, skipRange: o.SkipRange}
	base.Package = b.Package
	for _, dir := range []struct {
		value      *string
		defaultDir string
	}{{&base.InputDir, b.kustomizeDir}, {&base.OutputDir, b.kustomizeDir}, {&base.APIsDir, apisDir(tree)}} {
		if *dir.value == "" {
			*dir.value = dir.defaultDir
			continue
		}
		rel, err := p.FromRoot(*dir.value)
		if err != nil {
			return nil, nil, err
		}
		*dir.value = rel
	}
	if err := b.checkBuild(tree, o, base.OutputDir); err != nil {
		return nil, nil, err
	}
	var findings diag.Findings
	collect := func(err error) error {
		more, err := asFindings(err)
		findings = append(findings, more...)
		return err
	}
	if err := collect(resolveBase(p, config, base, nil)); err != nil {
		return nil, nil, err
	}
	b.Package = base.Package
	dir := b.buildDir
	if o.Base.OutputDir != "" {
		dir = base.OutputDir
	}
	if err := base.locateBase(tree, dir, o.Base.InputDir != ""); err != nil {
		return nil, nil, err
	}
	if err := collect(b.locateOutput()); err != nil {
		return nil, nil, err
	}
	if err := b.complete(tree, o.ProjectVersion); err != nil {
		return nil, nil, err
	}
	findings = append(findings, b.check(false)...)
	if o.Image != "" {
		findings = append(findings, project.CheckImage("--image", o.Image)...)
	}
	return b, base, append(findings, o.checkEdges(b)...).Err()
}

// locateBuild sets the directories of the kustomization to build and of the base.
func (b *bundleRun) locateBuild(tree *worktree.Tree, build string) (err error) {
	if err := b.locateKustomization(); err != nil || build == "" {
		return err
	}
	if b.buildDir, err = b.FromRoot(build); err != nil {
		return err
	}
	if b.KustomizeDir == "" && !tree.Exists(b.kustomizeDir) {
		b.kustomizeDir = b.buildDir // a first base is created there
	}
	return nil
}

// checkBuild reports a command of the Makefile whose input cannot be built. created is a directory whose kustomization is created
// if it is missing.
func (b *bundleRun) checkBuild(tree *worktree.Tree, o Options, created string) error {
	data, err := readKustomization(tree, b.buildDir)
	switch {
	case err != nil || data != nil || o.Source.Line == 0:
		return err
	case o.Build == "":
		return diag.Finding{Position: o.Source, Problem: fmt.Sprintf("the manifests of the bundle are not the output of kustomize build, and %s has no %s", b.buildDir, project.KustomizationFile),
			Fix: "pass a kustomization with --kustomize-dir, or generate the bundle with the Makefile"}
	case b.buildDir == created && (b.buildDir == project.ManifestsDir || o.Base.OutputDir != ""):
		return nil
	}
	return diag.Finding{Position: o.Source, Problem: fmt.Sprintf("kustomize build %s: the directory has no %s", b.buildDir, project.KustomizationFile),
		Fix: "correct the directory, or pass another one with --kustomize-dir"}
}

// apisDir returns the directory of the API types.
func apisDir(tree *worktree.Tree) string {
	if !tree.Exists(project.APIDir) && tree.Exists(project.OldAPIDir) { // several groups in the layout go/v3
		return project.OldAPIDir
	}
	return project.APIDir
}

// checkEdges validates the options for upgrades.
func (o *Options) checkEdges(b *bundleRun) (findings diag.Findings) {
	if o.Replaces != "" {
		problem := ""
		if problems := validation.IsDNS1123Subdomain(o.Replaces); len(problems) > 0 {
			problem = "must be the name of a CSV, such as " + b.Package + ".v0.0.1: " + problems[0]
		} else if o.Replaces == b.Package+".v"+b.Version {
			problem = "is the name of this CSV; pass the name of the previous version"
		}
		if problem != "" {
			findings.Add("--replaces", o.Replaces, problem)
		}
	}
	if o.SkipRange != "" {
		if _, err := semver.ParseRange(o.SkipRange); err != nil {
			findings = append(findings, diag.Finding{Field: "--skip-range", Value: o.SkipRange,
				Problem: "must be a range of versions, such as >=0.0.1 <0.1.0: " + err.Error()})
		}
	}
	return findings
}

// complete sets empty options from the existing bundle, and the version from the Makefile if that is later.
func (b *bundleRun) complete(tree *worktree.Tree, projectVersion string) error {
	csv, err := tree.ReadOptional(path.Join(b.outputDir, bundle.ManifestsDir, bundle.CSVFile(b.Package)))
	if err != nil {
		return err
	}
	annotations, err := tree.ReadOptional(path.Join(b.outputDir, bundle.AnnotationsFile))
	if err != nil {
		return err
	}
	current := bundle.ReadPlacement(csv, annotations)
	if b.Version == "" {
		b.Version = laterVersion(current.Version, projectVersion)
	}
	if b.Channels == "" {
		b.Channels = current.Channels
		b.DefaultChannel = cmp.Or(b.DefaultChannel, current.DefaultChannel)
	}
	b.Channels = cmp.Or(b.Channels, bundle.DefaultChannel)
	return nil
}

// laterVersion returns the later of two versions of a bundle, either of which may be empty: the existing bundle may have been
// generated with --version, and the Makefile may have been changed since.
func laterVersion(existing, makefile string) string {
	e, err := semver.Parse(existing)
	m, otherErr := semver.Parse(makefile)
	if err != nil || otherErr == nil && m.GT(e) {
		return makefile
	}
	return existing
}

// validate rejects a bundle that OLM would not install, and reports other findings.
func (b *bundleRun) validate(ctx context.Context, tree *worktree.Tree) error {
	names, err := tree.Walk(b.outputDir, nil)
	if err != nil {
		return fmt.Errorf("reading the bundle: %w", err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[name], err = tree.ReadFile(name); err != nil {
			return fmt.Errorf("reading the bundle: %w", err)
		}
	}
	findings, err := b.findings(ctx, files)
	if err != nil {
		return err
	}
	var problems diag.Findings
	for _, f := range findings {
		switch f.Severity {
		case diag.Error:
			problems = append(problems, f)
		case diag.Warning:
			b.ReportFindings(diag.Warning, f)
		default:
			b.Reportf(diag.Progress, "%s", f)
		}
	}
	if len(problems) > 0 {
		return &diag.Group{Heading: "the bundle would not be valid, nothing was written:", Err: problems}
	}
	return nil
}

// findings validates the files of a bundle, or returns the findings of an earlier run of this build for the same files.
func (b *bundleRun) findings(ctx context.Context, files map[string][]byte) (diag.Findings, error) {
	key := fmt.Sprintf("%q %q %t", b.Build, b.outputDir, b.Strict)
	bundled := afero.NewMemMapFs()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		key += fmt.Sprintf(" %q %x", name, sha256.Sum256(files[name]))
		if err := afero.WriteFile(bundled, strings.TrimPrefix(name, b.outputDir+"/"), files[name], 0o644); err != nil {
			return nil, fmt.Errorf("reading the bundle: %w", err)
		}
	}
	records := b.Records()
	if b.Build != "" {
		var found diag.Findings
		if json.Unmarshal(records.Get(action.FindingsRecord, key), &found) == nil {
			return found, nil
		}
	}
	result, err := validate.Bundle(ctx, validate.Source{FS: afero.NewIOFS(bundled), Name: b.outputDir}, validate.Options{Strict: b.Strict})
	if err != nil {
		return nil, err
	}
	if data, err := json.Marshal(result.Findings); err == nil && b.Build != "" {
		records.Put(action.FindingsRecord, key, data)
	}
	return result.Findings, nil
}

// setImage sets the manager's image, like kustomize edit set image.
func setImage(ctx context.Context, tree *worktree.Tree, ref string) error {
	name, content, err := manifest.SetImage(ctx, tree.Root(), project.ManagerDir, managerImage, ref, tree.Edits())
	if err != nil {
		return fmt.Errorf("--image: %w", err)
	}
	tree.WriteFile(name, content, 0o644)
	return nil
}
