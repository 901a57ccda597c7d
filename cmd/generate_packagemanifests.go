package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action/bundles"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// packageFlags are the flags of generate packagemanifests.
type packageFlags struct {
	bundles.PackageManifestsOptions
	objects, stdout bool
}

func newGeneratePackageManifests(a *app) *cobra.Command {
	var o packageFlags
	c := &cobra.Command{
		Use:   "packagemanifests",
		Short: "Generate a version in the package manifest format",
		Long: `Generate a version of the operator in the format that preceded bundles: a directory
packagemanifests/VERSION with a CSV and the other manifests, and the package manifest
packagemanifests/PACKAGE.package.yaml, which records the version of each channel.

The manifests are read from stdin, from --deploy-dir and --crds-dir, or from both. Without any of
these, the kustomization in --kustomize-dir is built, without running kustomize. The CSV is
generated as by 'generate bundle', and your edits to it are kept.

--channel makes the version the head of a channel. A package's first channel is its default;
--default-channel makes another one the default. A new package without --channel gets the channel
alpha; the channels of an existing package don't change.

Use this format only in projects that still need it; 'pkgman-to-bundle' converts it to bundles.`,
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
			return a.runGeneratePackageManifests(c, o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.Version, "version", "v", "", "semantic `version` of the operator")
	f.StringVar(&o.FromVersion, "from-version", "", "semantic `version` that this one replaces")
	addDirFlag(f, &o.InputDir, "input-dir", project.PackagesDir, "`directory` of the current package manifest")
	f.StringVar(&o.OutputDir, "output-dir", "", "`directory` to write the package manifest and the version to (default: packagemanifests)")
	addDirFlag(f, &o.KustomizeDir, "kustomize-dir", project.ManifestsDir, "`directory` with the kustomization of the operator and the base CSV")
	f.StringVar(&o.DeployDir, "deploy-dir", "", "`directory` of the operator's manifests")
	f.StringVar(&o.CRDsDir, "crds-dir", "", "`directory` of the CRDs (default: --deploy-dir)")
	f.StringVar(&o.Channel, "channel", "", "`channel` to make the version the head of")
	f.BoolVar(&o.IsDefault, "default-channel", false, "make the channel of --channel the default of the package")
	f.BoolVar(&o.objects, "update-objects", true, "write the other manifests besides the CSV; =false keeps them")
	a.addAllowRemote(f)
	f.BoolVar(&o.stdout, "stdout", false, "print the manifests and the package manifest, and write nothing")
	f.StringVar(&o.Package, "package", "", "package `name` (default: the project name)")
	f.StringSliceVar(&o.ExistingRoles, "existing-roles", nil, "existing `roles` in clusters that the operator's service accounts are bound to")
	f.BoolVar(&o.Strict, "strict", false, "fail if part of the input would be left out of the version")
	return c
}

func (a *app) runGeneratePackageManifests(c *cobra.Command, o packageFlags) error {
	workDirIfEmpty(c, "kustomize-dir", &o.KustomizeDir)
	if c.Flags().Changed("input-dir") && o.InputDir == "" {
		o.Findings = diag.Findings{{Field: "--input-dir", Problem: "must be a directory"}}
	}
	o.KeepObjects, o.Stdin = !o.objects, a.Stdin()
	err := renderOrGenerate(a, c, o.stdout, o.PackageManifestsOptions, bundles.RenderPackageManifests, bundles.GeneratePackageManifests)
	if err == nil && !a.dryRun && !o.stdout {
		a.print.Progressf("bundles have replaced package manifests: '%s pkgman-to-bundle' converts them", a.program)
	}
	return err
}
