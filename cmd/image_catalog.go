package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
)

// imageCatalogOptions are the flags of image catalog.
type imageCatalogOptions struct {
	targetOptions
	base      string
	platforms []string
}

// configsDir is the directory of a catalog in its image.
const configsDir = "configs"

func newImageCatalog(a *app) *cobra.Command {
	var o imageCatalogOptions
	c := &cobra.Command{
		Use:   "catalog [DIR]",
		Short: "Build the image of a file-based catalog",
		Long: `Build an image of a file-based catalog, without Docker, and push it or write it to a file or
directory. The catalog is validated first; its directory is "catalog" unless another one is given.
catalog.Dockerfile is not read.

The base contains opm, which serves the catalog, for each platform of the image. Its cache is built
when the catalog starts, while an image built from catalog.Dockerfile contains the cache and starts
faster if the catalog is large. With --base scratch the image contains only the catalog, for OLM v1
and for catalogs that OLM serves with its own opm.`,
		Example: fmt.Sprintf(`  %[1]s image catalog --image registry.example.com/memcached-operator-catalog:v0.0.1 --push`, a.program),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef(c, "%s takes the directory of one catalog, but got %d arguments", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return o.within(c, func() error {
				return a.runImageCatalog(c.Context(), append(slices.Clone(args), defaultCatalogDir)[0], &o)
			})
		},
	}
	f := c.Flags()
	o.targetOptions.addTo(f)
	f.StringVar(&o.base, "base", catalog.BaseImage, "base `image` with opm, or scratch")
	f.StringSliceVar(&o.platforms, "platform", nil, "comma-separated `platforms` of the image (default: those of the base)")
	return c
}

func (a *app) runImageCatalog(ctx context.Context, name string, o *imageCatalogOptions) error {
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	if findings := append(o.targetOptions.check(), checkPlatforms(o.platforms)...); len(findings) > 0 {
		return findings
	}
	at, err := a.imageTime()
	if err != nil {
		return err
	}
	loaded, problems, err := a.loadCatalog(name)
	if err != nil {
		return err
	}
	if problems = append(problems, loaded.Check()...); len(problems) > 0 {
		return problems
	}
	files, problems := a.filesToCopy(absolute(dir, name), bundle.Copy{From: ".", To: configsDir})
	if len(problems) > 0 {
		return problems
	}
	layer, err := image.NewLayer("the catalog", files, at)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.ToSlash(name), err)
	}
	if a.dryRun {
		a.progressf("would build an image of %s", diag.Count(len(files), "file"))
		return nil
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	recipe := catalogRecipe(o.base)
	recipe.Created, recipe.Author = at, "operon image catalog"
	for _, platform := range append(slices.Clone(o.platforms), "")[:max(len(o.platforms), 1)] {
		recipe.Parts = append(recipe.Parts, image.Part{Platform: platform, Layers: []*image.Layer{layer}})
	}
	img, err := a.imageOptions(dir, o.registryOptions).Build(ctx, recipe)
	if err != nil {
		return interrupted(ctx, err)
	}
	return interrupted(ctx, a.writeImage(ctx, dir, img, &o.targetOptions))
}

// catalogRecipe returns the recipe of an image that serves its catalog with the opm of the base, if there is one.
func catalogRecipe(base string) image.Recipe {
	r := image.Recipe{Base: base, Labels: map[string]string{image.CatalogLabel: "/" + configsDir}}
	if base != image.Scratch {
		r.Entrypoint = []string{"/bin/opm"}
		r.Cmd = []string{"serve", "/" + configsDir, "--cache-dir=/tmp/cache", "--cache-enforce-integrity=false"}
	}
	return r
}
