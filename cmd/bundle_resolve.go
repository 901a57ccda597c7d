package cmd

import (
	"cmp"
	"path"

	"github.com/blang/semver/v4"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// resolveBundle checks the flags, all of them, and completes them from the project and its bundle.
func (a *app) resolveBundle(c *cobra.Command, tree *worktree.Tree, dir string, config *project.Config, o *allOptions) error {
	o.bundle.build, o.bundle.overwrite = true, !o.bundle.keepMetadata
	if c.Flags().Changed("kustomize-dir") {
		rel, err := fromRoot(tree.Root(), dir, o.bundle.kustomizeDir)
		if err != nil {
			return err
		}
		o.bundle.kustomizeDir = rel
	}
	o.base.inputDir, o.base.outputDir = cmp.Or(o.base.inputDir, o.bundle.kustomizeDir), cmp.Or(o.base.outputDir, o.bundle.kustomizeDir)
	o.base.packageName = o.bundle.pkg
	if o.base.apisDir == "" {
		o.base.apisDir = "api"
		if !tree.Exists("api") && tree.Exists("apis") { // of several groups, in the layout of go/v3
			o.base.apisDir = "apis"
		}
	}
	var findings diag.Findings
	add := func(flag, value, problem string) {
		findings = append(findings, diag.Finding{Field: flag, Value: value, Problem: problem})
	}
	note := func(err error) error {
		more, err := asFindings(err)
		findings = append(findings, more...)
		return err
	}
	if err := note(a.resolveBase(c, tree.Root(), config, &o.base, nil)); err != nil {
		return err
	}
	o.bundle.pkg = o.base.packageName
	if err := note(o.bundle.placeOutput(tree.Root(), dir)); err != nil {
		return err
	}
	if err := o.bundle.complete(tree); err != nil {
		return err
	}
	findings = append(findings, o.bundle.check(false)...)
	if o.bundle.image != "" {
		findings = append(findings, project.CheckImage("--image", o.bundle.image)...)
	}
	if name := o.base.replaces; name != "" {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			add("--replaces", name, "is no name of a CSV, such as "+o.bundle.pkg+".v0.0.1: "+problems[0])
		} else if name == o.bundle.pkg+".v"+o.bundle.version {
			add("--replaces", name, "is the name of this CSV itself; name that of the version before")
		}
	}
	if o.base.skipRange != "" {
		if _, err := semver.ParseRange(o.base.skipRange); err != nil {
			add("--skip-range", o.base.skipRange, "is no range of versions, such as >=0.0.1 <0.1.0: "+err.Error())
		}
	}
	return findings.Err()
}

// complete takes what flags leave open from the bundle on disk, and the version from the Makefile if that is later.
func (o *bundleOptions) complete(tree *worktree.Tree) error {
	csv, err := readOptional(tree, path.Join(o.outputDir, bundle.ManifestsDir, bundle.CSVFile(o.pkg)))
	if err != nil {
		return err
	}
	annotations, err := readOptional(tree, path.Join(o.outputDir, bundle.AnnotationsFile))
	if err != nil {
		return err
	}
	current := bundle.ReadPlacement(csv, annotations)
	if o.version == "" {
		o.version = laterVersion(current.Version, o.projectVersion)
	}
	if o.channels == "" {
		o.channels = current.Channels
		if o.defaultChannel == "" {
			o.defaultChannel = current.DefaultChannel
		}
	}
	if o.channels == "" {
		o.channels = bundle.DefaultChannel
	}
	return nil
}
