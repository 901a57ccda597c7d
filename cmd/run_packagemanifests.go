package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action/bundles"
	"github.com/operon-sdk/operon/pkg/olm/operator"
)

func newRunPackageManifests(a *app) *cobra.Command {
	o, version := &runOptions{}, ""
	c := &cobra.Command{
		Use:   "packagemanifests [DIR]",
		Short: "Install an operator from package manifests with OLM",
		Long: `Install one version of a package in the package manifest format, which preceded bundles, the way
'run bundle' installs a bundle. The directory is packagemanifests unless you name another one.
'pkgman-to-bundle' converts such packages to bundles.`,
		Example: fmt.Sprintf("  %[1]s run packagemanifests ./packagemanifests --version 0.0.1", a.program),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef(c, "%s takes one argument: the directory of the package manifests", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			dir := "packagemanifests"
			if len(args) > 0 {
				dir = args[0]
			}
			return a.runPackageManifests(c.Context(), dir, version, o)
		},
	}
	o.addServing(c)
	o.addMode(c)
	c.Flags().StringVar(&version, "version", "", "`version` to install (default: the head of the default channel)")
	return c
}

func (a *app) runPackageManifests(ctx context.Context, dir, version string, o *runOptions) error {
	findings, mode := o.check(a.dryRun)
	if err := findings.Err(); err != nil {
		return err
	}
	source, channel, err := bundles.ReadPackageVersion(a.actions(), dir, version)
	if err != nil {
		return err
	}
	ctx, stop := o.limited(ctx)
	defer stop()
	client, namespace, err := a.connectOrDryRun(ctx, &o.operatorOptions)
	if err != nil {
		return err
	}
	bundle, err := operator.NewBundle(ctx, source, "", channel, "")
	if err != nil {
		return err
	}
	return a.install(ctx, client, namespace, bundle, mode, o)
}
