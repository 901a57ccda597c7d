package cmd

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/images"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/bundles"
	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
)

// catalogFlags are the flags of generate catalog.
type catalogFlags struct {
	bundles.CatalogOptions
	images.Registry
}

func newGenerateCatalog(a *app) *cobra.Command {
	var o catalogFlags
	c := &cobra.Command{
		Use:   "catalog",
		Short: "Generate or extend a file-based catalog",
		Long: `Generate a file-based catalog for the Operator Lifecycle Manager (OLM) from bundles, and
catalog.Dockerfile for its image. If the catalog exists, the bundles are added to it: its content
stays the same, byte for byte, except for the channels that the bundles join and for bundles of the
same name.

A bundle is a directory or an image. Images are read without Docker, from a registry, an OCI layout
or a tarball. Clusters pull bundles by the image that the catalog names: set it with --bundle
DIR=IMAGE, or for all bundles with --image, in which {{.Package}}, {{.Name}} and {{.Version}} are
replaced. A bundle that is already in the catalog keeps its image. The annotation containerImage of
a CSV names the operator's image, not the bundle's, and isn't used.

--template basic takes the upgrades from the CSVs: replaces, skips and the annotation olm.skipRange.
--template semver derives channels such as stable-v1.2 and their upgrades from the versions of all
bundles in them; its channels are candidate, fast and stable.

--from-image starts a new catalog from the catalog in an image, and adds the bundles to it.

Nothing is written unless every channel has one head that all its bundles upgrade to.`,
		Example: fmt.Sprintf(`  # The project's bundle, in the channels of its annotations:
  %[1]s generate catalog --image quay.io/example/memcached-operator-bundle:v0.0.1

  # Several versions, with a pattern for their images:
  %[1]s generate catalog --bundle released/0.0.1,released/0.0.2 --image 'quay.io/example/{{.Package}}-bundle:v{{.Version}}'

  # Channels by version:
  %[1]s generate catalog --bundle bundle=quay.io/example/memcached-operator-bundle:v0.0.2 --template semver --channel candidate,stable`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.FormatGiven = c.Flags().Changed("output")
			return o.Within(c, func() error { return a.runGenerateCatalog(c.Context(), o) })
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.Bundles, "bundle", nil, "`bundles`, each as DIR, DIR=IMAGE or IMAGE (default: bundle)")
	f.StringVar(&o.Image, "image", "", "`image` of bundles without one in --bundle; may contain {{.Package}}, {{.Name}}, {{.Version}}")
	f.StringSliceVar(&o.Channels, "channel", nil, "`channels` to add the bundles to (default: from their annotations)")
	f.StringVar(&o.DefaultChannel, "default-channel", "", "default `channel` of the package (default: from the catalog or the annotations)")
	choiceVar(c, &o.Template, "template", "", string(catalog.Basic), "source of the upgrades: CSVs (basic) or version numbers (semver)", string(catalog.Basic), string(catalog.Semver))
	choiceVar(c, &o.Format, "output", "o", string(catalog.YAML), "format of new files", string(catalog.YAML), string(catalog.JSON))
	f.StringVar(&o.OutputDir, "output-dir", "", "`directory` of the catalog (default: catalog)")
	f.StringVar(&o.BaseImage, "base-image", catalog.BaseImage, "`image` with opm for a new catalog.Dockerfile")
	f.StringVar(&o.FromImage, "from-image", "", "`image` of the catalog to start from if --output-dir contains none")
	f.BoolVar(&o.BundleObjects, "bundle-objects", false, "include all manifests of a bundle (olm.bundle.object) instead of the CSV's metadata, for old versions of OLM")
	o.Registry.AddTo(f)
	return c
}

func (a *app) runGenerateCatalog(ctx context.Context, o catalogFlags) error {
	root, err := a.ProjectOrDir() // a repository of catalogs needs no project
	if err != nil {
		return err
	}
	options := o.Options(a.print)
	o.Findings = append(o.Registry.Check(), images.CheckSource(a.Env, "--from-image", o.FromImage)...)
	o.OpenBundle = func(ctx context.Context, dir, name string) (*image.Bundle, error) {
		opened, err := images.OpenBundle(ctx, a.print, dir, name, options.Registries)
		if diag.IsUsage(err) {
			return nil, diag.Findings{{Field: "--bundle", Value: name, Problem: err.Error()}}
		}
		return opened, err
	}
	o.OpenCatalog = func(ctx context.Context, ref string) (fs.FS, error) {
		return image.OpenCatalog(ctx, ref, options)
	}
	return a.runAt(ctx, a.actions(), root, func(p *action.Project) error {
		return a.print.Outcome(bundles.GenerateCatalog(ctx, p, o.CatalogOptions))
	})
}
