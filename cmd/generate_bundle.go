package cmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// bundleOptions are the flags of generate bundle.
type bundleOptions struct {
	version, channels, defaultChannel, pkg string
	inputDir, deployDir, crdsDir           string
	kustomizeDir, outputDir                string
	// kustomizeName is --kustomize-dir as it was given, empty where it was not.
	kustomizeName                      string
	accounts, existingRoles            []string
	manifests, metadata                bool
	overwrite, stdout, digests, strict bool
	registryOptions
	// build tells that the kustomization is built, whatever stdin has.
	build bool
	// image is that of the manager, which the kustomization must use; empty where none is set.
	image string
	// replaces is the CSV that this one replaces, empty for what the base says.
	replaces string
	// pipeToo reads stdin besides folders.
	pipeToo bool
	// kustomizeGiven tells whether --kustomize-dir was given.
	kustomizeGiven bool
	// copyDir is outputDir as the Dockerfile names it.
	copyDir string
	// projectVersion is the version by the Makefile; keepMetadata reports whether it keeps existing metadata.
	projectVersion string
	keepMetadata   bool
	// locked are the digests of images, nil without --use-image-digests.
	locked *lockedImages
}

func newGenerateBundle(a *app) *cobra.Command {
	var o bundleOptions
	c := &cobra.Command{
		Use:   "bundle",
		Short: "Generate the bundle: CSV, manifests, metadata and Dockerfile",
		Long: `Generate an operator bundle for the Operator Lifecycle Manager (OLM): a ClusterServiceVersion (CSV)
from the operator's manifests and a base with its descriptions, the other manifests, their metadata,
and the Dockerfile of the bundle image.

The manifests are read from stdin, from --input-dir, or from --deploy-dir and --crds-dir; without
any of these the kustomization in --kustomize-dir is built, without running kustomize. The base is a
CSV among the manifests, or NAME.clusterserviceversion.yaml in the directory bases of
--kustomize-dir.

Manual edits of the bundle are kept: annotations, labels, more lines of the Dockerfile, related
images, replaces and skips. Objects that OLM does not support are left out and listed with the
reason. With --strict that is an error, except for objects that OLM replaces with its own: the
operator's Namespace, and the Service and certificates of webhooks. Nothing is written if nothing
has changed.`,
		Example: fmt.Sprintf(`  # From the project's kustomization:
  %[1]s generate bundle --version 0.0.1

  # From a pipe, as 'make bundle' does:
  kustomize build config/manifests | %[1]s generate bundle --version 0.0.1

  # From a directory of manifests, without a project:
  %[1]s generate bundle --input-dir deploy --package memcached-operator --version 0.0.1

  # Channels of an existing bundle:
  %[1]s generate bundle --metadata --channels stable,candidate --default-channel stable`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.kustomizeGiven = c.Flags().Changed("kustomize-dir")
			if flags := c.Flags(); (flags.Changed("manifests") || flags.Changed("metadata")) && !o.manifests && !o.metadata {
				a.notef("note: without --manifests and --metadata there is nothing to do; leave both flags out to generate both")
				return nil
			}
			return o.within(c, func() error { return a.runGenerateBundle(c, o) })
		},
	}
	f := c.Flags()
	f.StringVarP(&o.version, "version", "v", "", "semantic `version` of the bundle (default: the version of the base)")
	f.StringVar(&o.channels, "channels", bundle.DefaultChannel, "comma-separated `channels` of the bundle")
	f.StringVar(&o.defaultChannel, "default-channel", "", "default `channel` of the package")
	f.StringVar(&o.pkg, "package", "", "package `name` (default: the project name)")
	f.StringVar(&o.inputDir, "input-dir", "", "`directory` of the operator's manifests")
	f.StringVar(&o.deployDir, "deploy-dir", "", "`directory` of the operator's manifests; prefer --input-dir")
	f.StringVar(&o.crdsDir, "crds-dir", "", "`directory` of the CRDs (default: --deploy-dir)")
	f.StringVar(&o.kustomizeDir, "kustomize-dir", defaultKustomizeDir, "`directory` with the kustomization of the bundle and the base CSV")
	f.StringVar(&o.outputDir, "output-dir", "", "`directory` to write the bundle to (default: bundle)")
	f.StringSliceVar(&o.accounts, "extra-service-accounts", nil, "service `accounts` without a Deployment whose permissions the CSV includes")
	f.StringSliceVar(&o.existingRoles, "existing-roles", nil, "existing `roles` in clusters that the operator's service accounts are bound to")
	f.BoolVar(&o.manifests, "manifests", false, "generate only the manifests")
	f.BoolVar(&o.metadata, "metadata", false, "generate only the metadata and the Dockerfile")
	f.BoolVar(&o.overwrite, "overwrite", true, "update existing metadata and Dockerfile; =false keeps them")
	f.BoolVar(&o.stdout, "stdout", false, "print the manifests and write nothing")
	f.BoolVar(&o.digests, "use-image-digests", false, "refer to images by digest; without network the digests are read from "+imagesFile)
	o.registryOptions.addTo(f)
	f.BoolVar(&o.strict, "strict", false, "fail if part of the input would be left out of the bundle")
	return c
}

func (a *app) runGenerateBundle(c *cobra.Command, o bundleOptions) error {
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	given := o.pkg
	root, layout, err := a.bundleProject(dir, &o)
	findings := o.check(a.InPipe)
	if err != nil {
		return errors.Join(err, findings.Err())
	}
	if o.kustomizeGiven {
		o.kustomizeName = filepath.ToSlash(o.kustomizeDir)
		if o.kustomizeDir, err = fromRoot(root, dir, o.kustomizeDir); err != nil {
			return err
		}
	}
	outside, err := asFindings(o.placeOutput(root, dir))
	if err != nil {
		return err
	}
	if findings = append(findings, outside...); len(findings) > 0 {
		return errors.Join(findings, a.faults(worktree.NewTree(a.FS, root), dir, layout, o))
	}
	if !o.stdout {
		if done, err := a.settle(c.Context(), root); done || err != nil {
			return err
		}
	}
	generate := func(tree *worktree.Tree) (made *bundle.Manifests, err error) {
		if o.manifests {
			made, err = a.bundleManifests(c.Context(), tree, dir, layout, &o)
		}
		return made, err
	}
	if o.stdout {
		made, err := generate(worktree.NewTree(a.FS, root))
		if err != nil {
			return err
		}
		return a.printManifests(made)
	}
	if a, err = a.readPipe(&o); err != nil {
		return err
	}
	return a.applyBundle(c.Context(), root, o.outputDir, o.outputDir, func(tree *worktree.Tree) (*bundle.Updated, error) {
		// Another command may have changed the project before this one took the lock.
		o.pkg = given
		if _, layout, err = a.bundleProject(dir, &o); err != nil {
			return nil, err
		}
		made, err := generate(tree)
		if err != nil {
			return nil, err
		}
		return a.writeBundle(tree, made, layout, &o)
	})
}

// The defaults of flags that name folders.
const (
	defaultKustomizeDir = "config/manifests"
	defaultBundleDir    = "bundle"
)

// check finds what is wrong with the flags, before anything is read.
func (o *bundleOptions) check(piped bool) diag.Findings {
	var findings diag.Findings
	add := func(flag, value, problem string) {
		findings = append(findings, diag.Finding{Field: flag, Value: value, Problem: problem})
	}
	if !o.manifests && !o.metadata {
		o.manifests, o.metadata = true, true
	}
	if problem := packageProblem(o.pkg); problem != "" && o.pkg != "" {
		add("--package", o.pkg, problem)
	}
	if problem := versionProblem(o.version); problem != "" {
		add("--version", o.version, problem)
	}
	for _, channel := range strings.Split(o.channels, ",") {
		if problem := channelProblem(channel); problem != "" {
			add("--channels", o.channels, problem)
		}
	}
	if problem := channelProblem(o.defaultChannel); problem != "" && o.defaultChannel != "" {
		add("--default-channel", o.defaultChannel, problem)
	}
	findings = append(findings, o.registryOptions.check()...)
	if !o.manifests {
		return findings
	}
	findings = append(findings, o.checkSources(piped)...)
	if o.stdout && o.outputDir != "" {
		add("--output-dir", o.outputDir, "excludes --stdout, which writes nothing to disk")
	}
	return findings
}

// checkSources finds what is wrong with the flags that say where the manifests are.
func (o *bundleOptions) checkSources(piped bool) diag.Findings {
	var findings diag.Findings
	add := func(flag, value, problem string) {
		findings = append(findings, diag.Finding{Field: flag, Value: value, Problem: problem})
	}
	dirs := o.inputDir != "" || o.deployDir != "" || o.crdsDir != ""
	if piped && dirs {
		add("stdin", "a pipe", "comes with --input-dir, --deploy-dir or --crds-dir; use one of them, and append </dev/null where a script passes its own input on")
	}
	if o.inputDir != "" && (o.deployDir != "" || o.crdsDir != "") {
		add("--input-dir", o.inputDir, "excludes --deploy-dir and --crds-dir")
	}
	if o.crdsDir != "" && o.deployDir == "" && o.inputDir == "" {
		add("--crds-dir", o.crdsDir, "holds CRDs only; give --deploy-dir too")
	}
	return findings
}

// versionProblem says why a text is not the version of a bundle; empty means that it is none at all.
func versionProblem(version string) string {
	if version == "" {
		return ""
	}
	v, err := semver.Parse(version)
	switch {
	case strings.HasPrefix(version, "v"):
		return "must be a semantic version without v, such as 1.2.3"
	case err != nil:
		return "must be a semantic version such as 1.2.3: " + strings.ToLower(err.Error())
	case len(v.Build) > 0:
		return "has build metadata, which the name of a CSV cannot hold; leave out what begins with +"
	}
	return ""
}

// packageProblem says why a text is not the name of a package.
func packageProblem(name string) string {
	for _, finding := range project.CheckPackageName(name) {
		return finding.Problem
	}
	return ""
}

// channelProblem says why a text is not the name of a channel.
func channelProblem(channel string) string {
	switch {
	case channel == "":
		return "has an empty channel"
	case strings.ContainsAny(channel, " \t\r\n"):
		return "has white space in it; separate channels by commas alone"
	case strings.ContainsAny(channel, "\"'#:{}[]=$\\"):
		return "has a character that a channel's name cannot have"
	}
	return ""
}

// fromRoot gives a folder that a flag names as seen from the project's root, separated by slashes.
func fromRoot(root, dir, name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return "", err
	}
	return filepath.ToSlash(rel), nil
}

// placeOutput finds the bundle's folder as seen from the project's root.
func (o *bundleOptions) placeOutput(root, dir string) error {
	given := o.outputDir
	if given == "" {
		given = defaultBundleDir
		dir = root
	}
	rel, err := fromRoot(root, dir, given)
	if err != nil {
		return err
	}
	if isOutside(rel) && o.metadata {
		return diag.Findings{{Field: "--output-dir", Value: given, Problem: "is outside of the project, where bundle.Dockerfile cannot copy from; give --manifests to write the manifests alone"}}
	}
	o.outputDir, o.copyDir = rel, rel
	if dir == root && !filepath.IsAbs(given) { // the Dockerfile says what the caller said
		o.copyDir = filepath.ToSlash(given)
	}
	return nil
}
