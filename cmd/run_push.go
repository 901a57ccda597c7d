package cmd

import (
	"context"
	"fmt"

	"github.com/operon-sdk/operon/cmd/internal/images"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/olm/operator"
)

// catalogImage builds the image of a bundle's catalog, pushes it to --push-catalog and returns its name with the digest: OLM does
// not pull a changed image of the same name again.
func catalogImage(ctx context.Context, p *output.Printer, bundle operator.Bundle, o *runOptions) (string, error) {
	at, err := p.ImageTime()
	if err != nil {
		return "", err
	}
	layer, err := image.NewLayer("the catalog", []image.File{
		image.Text(image.CatalogDir+"/"+bundle.Package+"/catalog.yaml", 0o644, bundle.Catalog),
	}, at)
	if err != nil {
		return "", err
	}
	recipe := image.CatalogRecipe(o.indexImage)
	recipe.Created, recipe.Author, recipe.Parts = at, "operon run", []image.Part{{Layers: []*image.Layer{layer}}}
	made, err := o.Options(p).Build(ctx, recipe)
	if err != nil {
		return "", fmt.Errorf("building the image of the catalog: %w", err)
	}
	made.Name = o.pushCatalog
	digest, err := made.Digest()
	if err != nil {
		return "", err
	}
	if err := images.Push(ctx, p, made, o.pushCatalog, o.Access(p)); err != nil {
		return "", fmt.Errorf("--push-catalog: %w", err)
	}
	return image.WithDigest(o.pushCatalog, digest), nil
}

// pushCatalogTo sets the options to serve the catalog from an image, if --push-catalog is given.
func (a *app) pushCatalogTo(options *operator.RunOptions, o *runOptions) {
	switch {
	case o.pushCatalog == "":
	case a.dryRun:
		options.Serving.CatalogImage = o.pushCatalog
		a.print.Progressf("the image %s of the catalog would be pushed and referenced by its digest", o.pushCatalog)
	default:
		options.PushCatalog = func(ctx context.Context) (string, error) { return catalogImage(ctx, a.print, options.Bundle, o) }
	}
}
