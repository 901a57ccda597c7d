package cmd

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// packageOptions are the flags of generate packagemanifests; those that it shares with generate bundle
// are in bundleOptions.
type packageOptions struct {
	bundleOptions
	fromVersion, channel string
	isDefault, objects   bool
	// packages is the folder that holds the package manifest so far.
	packages string
}

// defaultPackagesDir is where package manifests are read and written.
const defaultPackagesDir = "packagemanifests"

func newGeneratePackageManifests(a *app) *cobra.Command {
	var o packageOptions
	c := &cobra.Command{
		Use:   "packagemanifests",
		Short: "Generate a version in the package manifest format",
		Long: `Generate a version of the operator in the format that preceded bundles: a directory
packagemanifests/VERSION with a CSV and the other manifests, and the package manifest
packagemanifests/PACKAGE.package.yaml, which records the version of each channel.

The manifests are read from stdin, from --deploy-dir and --crds-dir, or from both; without any of
these the kustomization in --kustomize-dir is built, without running kustomize. The CSV is generated
as by 'generate bundle', and manual edits of it are kept.

--channel makes the version the head of a channel. The first channel of a package is its default;
--default-channel makes another one the default. A new package without --channel gets the channel
alpha; the channels of an existing one do not change.

The format is for projects that still use it; 'pkgman-to-bundle' converts it to bundles.`,
		Example: fmt.Sprintf(`  # The first version, from the project's kustomization:
  %[1]s generate packagemanifests --version 0.0.1

  # The next version, as an upgrade, in a new default channel:
  %[1]s generate packagemanifests --version 0.0.2 --from-version 0.0.1 --channel stable --default-channel

  # From a pipe:
  kustomize build config/manifests | %[1]s generate packagemanifests --version 0.0.1

  # From directories of manifests, without a project:
  %[1]s generate packagemanifests --deploy-dir deploy --crds-dir crds --package memcached-operator --version 0.0.1`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.kustomizeGiven = c.Flags().Changed("kustomize-dir")
			return a.runGeneratePackageManifests(c, o, c.Flags().Changed("input-dir"))
		},
	}
	f := c.Flags()
	f.StringVarP(&o.version, "version", "v", "", "semantic `version` of the operator")
	f.StringVar(&o.fromVersion, "from-version", "", "semantic `version` that this one replaces")
	f.StringVar(&o.packages, "input-dir", defaultPackagesDir, "`directory` of the current package manifest")
	f.StringVar(&o.outputDir, "output-dir", "", "`directory` to write the package manifest and the version to (default: packagemanifests)")
	f.StringVar(&o.kustomizeDir, "kustomize-dir", defaultKustomizeDir, "`directory` with the kustomization of the operator and the base CSV")
	f.StringVar(&o.deployDir, "deploy-dir", "", "`directory` of the operator's manifests")
	f.StringVar(&o.crdsDir, "crds-dir", "", "`directory` of the CRDs (default: --deploy-dir)")
	f.StringVar(&o.channel, "channel", "", "`channel` to make the version the head of")
	f.BoolVar(&o.isDefault, "default-channel", false, "make the channel of --channel the default of the package")
	f.BoolVar(&o.objects, "update-objects", true, "write the other manifests besides the CSV; =false keeps them")
	f.BoolVar(&o.stdout, "stdout", false, "print the manifests and the package manifest, and write nothing")
	f.StringVar(&o.pkg, "package", "", "package `name` (default: the project name)")
	f.StringSliceVar(&o.existingRoles, "existing-roles", nil, "existing `roles` in clusters that the operator's service accounts are bound to")
	f.BoolVar(&o.strict, "strict", false, "fail if part of the input would be left out of the version")
	return c
}

// check finds what is wrong with the flags, before anything is read.
func (o *packageOptions) check() diag.Findings {
	var findings diag.Findings
	add := func(flag, value, problem string) {
		findings = append(findings, diag.Finding{Field: flag, Value: value, Problem: problem})
	}
	if problem := packageProblem(o.pkg); problem != "" && o.pkg != "" {
		add("--package", o.pkg, problem)
	}
	if o.version == "" {
		add("--version", "", "is required: it names the directory of the version")
	}
	if problem := versionProblem(o.version); problem != "" {
		add("--version", o.version, problem)
	}
	if problem := versionProblem(o.fromVersion); problem != "" {
		add("--from-version", o.fromVersion, problem)
	}
	if o.fromVersion != "" && o.fromVersion == o.version {
		add("--from-version", o.fromVersion, "is the version itself, which cannot replace itself")
	}
	if problem := channelProblem(o.channel); problem != "" && o.channel != "" {
		add("--channel", o.channel, problem)
	}
	if strings.Contains(o.channel, ",") {
		add("--channel", o.channel, "must be one channel; call the command once for each")
	}
	if o.isDefault && o.channel == "" {
		add("--default-channel", "true", "says which kind of channel --channel is; give --channel too")
	}
	if o.packages == "" {
		add("--input-dir", "", "must name a folder")
	}
	findings = append(findings, o.checkSources(false)...)
	if o.stdout && o.outputDir != "" {
		add("--output-dir", o.outputDir, "excludes --stdout, which writes nothing to disk")
	}
	return findings
}

func (a *app) runGeneratePackageManifests(c *cobra.Command, o packageOptions, inputGiven bool) error {
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	given := o.pkg
	root, layout, err := a.bundleProject(dir, &o.bundleOptions)
	findings := o.check()
	if err != nil {
		return errors.Join(err, findings.Err())
	}
	o.manifests, o.pipeToo = true, true
	outside, err := asFindings(o.place(root, dir, inputGiven))
	if err != nil {
		return err
	}
	if findings = append(findings, outside...); len(findings) > 0 {
		return errors.Join(findings, a.faults(worktree.NewTree(a.FS, root), dir, layout, o.bundleOptions))
	}
	if !o.stdout {
		if done, err := a.settle(c.Context(), root); done || err != nil {
			return err
		}
	}
	o.copyDir = path.Join(o.outputDir, o.version)
	if o.stdout {
		made, pkg, err := a.generatePackage(c.Context(), worktree.NewTree(a.FS, root), dir, layout, &o)
		if err != nil {
			return err
		}
		return a.printPackage(made, pkg)
	}
	if a, err = a.readPipe(&o.bundleOptions); err != nil {
		return err
	}
	err = a.applyBundle(c.Context(), root, o.outputDir, o.copyDir, func(tree *worktree.Tree) (*bundle.Updated, error) {
		// Another command may have changed the project before this one took the lock.
		o.pkg = given
		if _, layout, err = a.bundleProject(dir, &o.bundleOptions); err != nil {
			return nil, err
		}
		made, pkg, err := a.generatePackage(c.Context(), tree, dir, layout, &o)
		if err != nil {
			return nil, err
		}
		return a.writePackage(tree, made, pkg, &o)
	})
	if err == nil && !a.dryRun {
		a.progressf("bundles have taken the place of package manifests: '%s pkgman-to-bundle' makes bundles of them", a.program)
	}
	return err
}

// generatePackage makes the manifests of the version, and the package manifest with it.
func (a *app) generatePackage(ctx context.Context, tree *worktree.Tree, dir, layout string, o *packageOptions) (*bundle.Manifests, *bundle.Package, error) {
	pkg, wrong, err := readPackage(tree, path.Join(o.packages, bundle.PackageFile(o.pkg)), o.pkg)
	if err != nil {
		return nil, nil, err
	}
	if o.fromVersion != "" {
		o.replaces = o.pkg + ".v" + o.fromVersion
	}
	csv := o.pkg + ".v" + o.version
	if len(wrong) == 0 {
		pkg.SetHead(o.channel, csv, o.isDefault)
		wrong = pkg.CheckDefault()
	}
	if len(wrong) > 0 {
		return nil, nil, errors.Join(wrong, a.faults(tree, dir, layout, o.bundleOptions))
	}
	made, err := a.bundleManifests(ctx, tree, dir, layout, &o.bundleOptions)
	if err != nil {
		return nil, nil, err
	}
	a.tellPackage(pkg, csv, made)
	if !o.objects {
		made.Files, made.Order = nil, nil
	}
	return made, pkg, nil
}

// place finds the folders as seen from the project's root.
func (o *packageOptions) place(root, dir string, inputGiven bool) (err error) {
	inputDir := root
	if inputGiven {
		inputDir = dir
	}
	if o.packages, err = fromRoot(root, inputDir, o.packages); err != nil {
		return err
	}
	outputDir := dir
	if o.outputDir == "" {
		o.outputDir, outputDir = defaultPackagesDir, root
	}
	if o.outputDir, err = fromRoot(root, outputDir, o.outputDir); err != nil {
		return err
	}
	if o.kustomizeGiven {
		o.kustomizeName = filepath.ToSlash(o.kustomizeDir)
		o.kustomizeDir, err = fromRoot(root, dir, o.kustomizeDir)
	}
	return err
}

// readPackage reads the package manifest, a new one where there is none. The problems are about its
// content, the error about reading it.
func readPackage(tree *worktree.Tree, name, pkg string) (*bundle.Package, diag.Findings, error) {
	data, err := readOptional(tree, name)
	if data == nil || err != nil {
		return bundle.NewPackage(pkg), nil, err
	}
	p, problems := bundle.ParsePackage(name, data)
	if len(problems) == 0 && p.PackageName != pkg {
		problems = diag.Findings{{Position: p.Locate("packageName"),
			Problem: fmt.Sprintf("packageName is %s, but the file is that of %s; correct the one or the other", p.PackageName, pkg)}}
	}
	return p, problems, nil
}

// tellPackage says what the format has no place for.
func (a *app) tellPackage(pkg *bundle.Package, csv string, made *bundle.Manifests) {
	if len(pkg.ChannelsOf(csv)) == 0 {
		a.notef("note: no channel has %s at its head; --channel puts it there", csv)
	}
	if made.Scorecard != nil {
		a.notef("note: the scorecard's configuration is left out, as package manifests cannot contain it; 'pkgman-to-bundle' reads one from the directory of the version")
		made.Scorecard = nil
	}
}

// printPackage prints the manifests as documents of a YAML stream, the package manifest last.
func (a *app) printPackage(made *bundle.Manifests, pkg *bundle.Package) error {
	text, err := pkg.Bytes()
	if err != nil {
		return err
	}
	if err := a.printManifests(made); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "---\n%s", text)
	return err
}

// writePackage brings the version's folder and the package manifest up to date.
func (a *app) writePackage(tree *worktree.Tree, made *bundle.Manifests, pkg *bundle.Package, o *packageOptions) (*bundle.Updated, error) {
	u := bundle.Update{Dir: o.copyDir, Subdir: ".", Manifests: made}
	if o.objects {
		var err error
		if u.List, err = topFiles(tree, o.copyDir); err != nil {
			return nil, err
		}
	}
	text, err := pkg.Bytes()
	if err != nil {
		return nil, err
	}
	tree.WriteFile(path.Join(o.outputDir, bundle.PackageFile(o.pkg)), text, 0o644)
	return a.updateBundle(tree, u, path.Join(o.copyDir, made.Name))
}

// topFiles are the names of the files of a folder, without those of folders below it.
func topFiles(tree *worktree.Tree, dir string) ([]string, error) {
	files, err := tree.Walk(dir, func(string) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", dir, reason(err))
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = path.Base(file)
	}
	return names, nil
}
