package cmd

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/olm/operator"
)

func newRunPackageManifests(a *app) *cobra.Command {
	o, version := &runOptions{}, ""
	c := &cobra.Command{
		Use:   "packagemanifests [DIR]",
		Short: "Install an operator from package manifests with OLM",
		Long: `Install one version of a package in the package manifest format, which preceded bundles, like 'run
bundle' installs a bundle. The directory is packagemanifests unless another one is given.
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
	source, channel, err := a.packageSource(dir, version)
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

// packageSource reads one version of a package as a bundle, and returns its channel.
func (a *app) packageSource(dir, version string) (*catalog.Source, string, error) {
	pkg, bundles, err := action.ConvertPackageManifests(a.actions(), dir)
	if err != nil {
		return nil, "", err
	}
	head := ""
	for _, c := range pkg.Channels {
		if c.Name == pkg.Default() {
			head = c.CurrentCSVName
		}
	}
	var known []string
	for _, b := range bundles {
		source, err := convertedSource(b, dir)
		if err != nil {
			return nil, "", err
		}
		known = append(known, source.Version.String())
		if version == "" && b.CSV != head || version != "" && source.Version.String() != version {
			continue
		}
		for _, c := range pkg.Channels {
			if c.CurrentCSVName == b.CSV {
				return source, c.Name, nil
			}
		}
		return nil, "", diag.Findings{{Field: "--version", Value: version, Problem: fmt.Sprintf("must be the head of a channel; %s is not in the package manifest", b.CSV)}}
	}
	return nil, "", diag.Findings{{Field: "--version", Value: version, Problem: "not found; the versions are " + strings.Join(known, ", ")}}
}

// convertedSource reads a converted bundle.
func convertedSource(b bundle.Converted, dir string) (*catalog.Source, error) {
	memory := afero.NewMemMapFs()
	for name, content := range b.Files {
		if err := afero.WriteFile(memory, name, content, 0o600); err != nil {
			return nil, err
		}
	}
	below, err := fs.Sub(afero.NewIOFS(memory), "bundle")
	if err != nil {
		return nil, err
	}
	source, problems := catalog.ReadBundle(below, dir+"/"+b.Version)
	if len(problems) > 0 {
		return nil, problems
	}
	return source, nil
}
