package bundles

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// PackageManifestsOptions are the options of GeneratePackageManifests.
type PackageManifestsOptions struct {
	// The manifests in DeployDir and CRDsDir are read in addition to a pipe.
	SourceOptions
	// Version is the version to generate, and FromVersion the version that it replaces, or empty.
	Version, FromVersion string
	// Channel is the channel to make the version the head of, or empty. IsDefault makes it the default channel.
	Channel   string
	IsDefault bool
	// InputDir contains the current package manifest; empty means the scaffold's directory.
	InputDir string
	// KeepObjects keeps the manifests other than the CSV.
	KeepObjects bool
}

// A packageRun contains the options of GeneratePackageManifests, and what was resolved from them.
type packageRun struct {
	bundleRun
	PackageManifestsOptions
	// packages is the directory of the current package manifest, relative to the root.
	packages string
}

// GeneratePackageManifests updates a version of the operator in the package manifest format, and the package manifest.
func GeneratePackageManifests(ctx context.Context, p *action.Project, o PackageManifestsOptions) (*action.Result, error) {
	r, err := resolvePackageManifests(ctx, p, o, false)
	if err != nil {
		return nil, err
	}
	if err := r.bufferStdin(); err != nil {
		return nil, err
	}
	return update(ctx, p, r.outputDir, r.copyDir, func(tree *worktree.Tree) (*bundle.Updated, error) {
		// The user may have edited PROJECT while the input was read.
		r.bundleRun.Package = o.Package
		if err := r.readProject(); err != nil {
			return nil, err
		}
		generated, pkg, err := r.generate(ctx, tree)
		if err != nil {
			return nil, err
		}
		return r.write(tree, generated, pkg)
	})
}

// RenderPackageManifests returns the manifests and the package manifest as a YAML stream, without changing the project.
func RenderPackageManifests(ctx context.Context, p *action.Project, o PackageManifestsOptions) ([]byte, error) {
	r, err := resolvePackageManifests(ctx, p, o, true)
	if err != nil {
		return nil, err
	}
	generated, pkg, err := r.generate(ctx, p.Files)
	if err != nil {
		return nil, err
	}
	text, err := pkg.Bytes()
	if err != nil {
		return nil, err
	}
	manifests, err := renderManifests(p, generated)
	return fmt.Appendf(manifests, "---\n%s", text), err
}

func resolvePackageManifests(ctx context.Context, p *action.Project, o PackageManifestsOptions, render bool) (*packageRun, error) {
	r := &packageRun{PackageManifestsOptions: o, bundleRun: bundleRun{
		Project: p, pipeToo: true, GenerateOptions: GenerateOptions{SourceOptions: o.SourceOptions, Version: o.Version, Manifests: true},
	}}
	err := r.readProject()
	findings := r.check()
	if render && o.OutputDir != "" {
		findings.Add("--output-dir", o.OutputDir, "excludes --stdout, which writes nothing to disk")
	}
	if err != nil {
		return nil, errors.Join(err, findings.Err())
	}
	r.packages, r.outputDir = project.PackagesDir, project.PackagesDir
	if o.InputDir != "" {
		if r.packages, err = p.FromRoot(o.InputDir); err != nil {
			return nil, err
		}
	}
	if o.OutputDir != "" {
		if r.outputDir, err = p.FromRoot(o.OutputDir); err != nil {
			return nil, err
		}
	}
	if err := r.locateKustomization(); err != nil {
		return nil, err
	}
	if len(findings) > 0 {
		return nil, errors.Join(findings, r.inputProblems(ctx, p.Files))
	}
	r.copyDir = path.Join(r.outputDir, o.Version)
	return r, nil
}

// check validates the options before anything is read.
func (r *packageRun) check() diag.Findings {
	var findings diag.Findings
	o := r.PackageManifestsOptions
	if name := r.bundleRun.Package; name != "" {
		if problem := packageProblem(name); problem != "" {
			findings.Add("--package", name, problem)
		}
	}
	if o.Version == "" {
		findings.Add("--version", "", "is required: it names the directory of the version")
	}
	if problem := VersionProblem(o.Version); problem != "" {
		findings.Add("--version", o.Version, problem)
	}
	if problem := VersionProblem(o.FromVersion); problem != "" {
		findings.Add("--from-version", o.FromVersion, problem)
	}
	if o.FromVersion != "" && o.FromVersion == o.Version {
		findings.Add("--from-version", o.FromVersion, "is the version itself, which cannot replace itself")
	}
	if problem := channelProblem(o.Channel); problem != "" && o.Channel != "" {
		findings.Add("--channel", o.Channel, problem)
	}
	if strings.Contains(o.Channel, ",") {
		findings.Add("--channel", o.Channel, "must be one channel; run the command once for each")
	}
	if o.IsDefault && o.Channel == "" {
		findings.Add("--default-channel", "true", "makes the channel of --channel the default; pass --channel, too")
	}
	return slices.Concat(findings, o.Findings, r.checkSources(false))
}

// generate returns the manifests of the version, and the package manifest that contains it.
func (r *packageRun) generate(ctx context.Context, tree *worktree.Tree) (*bundle.Manifests, *bundle.Package, error) {
	name := r.bundleRun.Package
	pkg, problems, err := readPackage(tree, path.Join(r.packages, bundle.PackageFile(name)), name)
	if err != nil {
		return nil, nil, err
	}
	if r.FromVersion != "" {
		r.replaces = name + ".v" + r.FromVersion
	}
	csv := name + ".v" + r.PackageManifestsOptions.Version
	if len(problems) == 0 {
		pkg.SetHead(r.Channel, csv, r.IsDefault)
		problems = pkg.CheckDefault()
	}
	if len(problems) > 0 {
		return nil, nil, errors.Join(problems, r.inputProblems(ctx, tree))
	}
	generated, err := r.generateManifests(ctx, tree)
	if err != nil {
		return nil, nil, err
	}
	if len(pkg.ChannelsOf(csv)) == 0 {
		r.Reportf(diag.Note, "note: no channel has %s at its head; --channel puts it there", csv)
	}
	if generated.Scorecard != nil {
		r.Reportf(diag.Note, "note: the scorecard's configuration is left out, as package manifests cannot contain it; 'operon pkgman-to-bundle' reads one from the directory of the version")
		generated.Scorecard = nil
	}
	if r.KeepObjects {
		generated.Files, generated.Order = nil, nil
	}
	return generated, pkg, nil
}

// readPackage reads the package manifest, or returns a new one if there is none. The problems are about its content.
func readPackage(tree *worktree.Tree, name, pkg string) (*bundle.Package, diag.Findings, error) {
	data, err := tree.ReadOptional(name)
	if data == nil || err != nil {
		return bundle.NewPackage(pkg), nil, err
	}
	p, problems := bundle.ParsePackage(name, data)
	if len(problems) == 0 && p.PackageName != pkg {
		problems = diag.Findings{{Position: p.Locate("packageName"),
			Problem: fmt.Sprintf("packageName is %s, but the file belongs to %s; correct one of them", p.PackageName, pkg)}}
	}
	return p, problems, nil
}

// write updates the directory of the version and the package manifest.
func (r *packageRun) write(tree *worktree.Tree, generated *bundle.Manifests, pkg *bundle.Package) (*bundle.Updated, error) {
	u := bundle.Update{Dir: r.copyDir, Subdir: ".", Manifests: generated}
	if !r.KeepObjects {
		files, err := tree.Walk(r.copyDir, func(string) bool { return true })
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", r.copyDir, diag.Cause(err))
		}
		for _, file := range files {
			u.List = append(u.List, path.Base(file))
		}
	}
	text, err := pkg.Bytes()
	if err != nil {
		return nil, err
	}
	tree.WriteFile(path.Join(r.outputDir, bundle.PackageFile(r.bundleRun.Package)), text, 0o644)
	return updateFiles(r.bundleRun.Project, tree, u, path.Join(r.copyDir, generated.Name))
}
