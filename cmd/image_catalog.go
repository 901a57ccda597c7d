package cmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/images"
	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/project"
)

// imageCatalogOptions are the flags of image catalog.
type imageCatalogOptions struct {
	images.Target
	base string
}

func newImageCatalog(a *app) *cobra.Command {
	var o imageCatalogOptions
	c := &cobra.Command{
		Use:   "catalog [DIR]",
		Short: "Build the image of a file-based catalog",
		Long: `Build the image of a file-based catalog, without Docker, and push it or write it to a file or
directory. The catalog is validated first; its directory is "catalog" unless you name another one.
catalog.Dockerfile isn't read.

The base image contains opm, which serves the catalog, for each platform of the image. opm builds
its cache when the catalog starts. An image built from catalog.Dockerfile contains the cache and
therefore starts faster if the catalog is large. With --base scratch, the image contains only the
catalog, for OLM v1 and for catalogs that OLM serves with its own opm.`,
		Example: fmt.Sprintf(`  %[1]s image catalog --image registry.example.com/memcached-operator-catalog:v0.0.1 --push`, a.program),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef(c, "%s takes the directory of one catalog, but got %d arguments", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return o.Within(c, func() error {
				return a.runImageCatalog(c.Context(), append(slices.Clone(args), project.CatalogDir)[0], &o)
			})
		},
	}
	f := c.Flags()
	o.Target.AddTo(f)
	f.StringVar(&o.base, "base", catalog.BaseImage, "base `image` with opm, or scratch")
	f.StringSliceVar(&o.Platforms, "platform", nil, "comma-separated `platforms` of the image (default: the base's)")
	return c
}

func (a *app) runImageCatalog(ctx context.Context, name string, o *imageCatalogOptions) error {
	if findings := append(o.Target.Check(), images.CheckPlatforms(o.Platforms)...); len(findings) > 0 {
		return findings
	}
	at, err := a.ImageTime()
	if err != nil {
		return err
	}
	loaded, problems, err := loadCatalog(a.print, name)
	if err != nil {
		return err
	}
	if problems = append(problems, loaded.Check()...); len(problems) > 0 {
		return problems
	}
	files, problems := image.ReadFiles(a.FS, a.Absolute(name), ".", image.CatalogDir, diag.Position{})
	if len(problems) > 0 {
		return problems
	}
	if len(o.Platforms) == 0 {
		o.Platforms = []string{""} // the base's platforms
	}
	recipe := image.CatalogRecipe(o.base)
	recipe.Created = at
	return o.BuildFiles(ctx, a.print, "catalog", recipe, files, a.dryRun)
}
