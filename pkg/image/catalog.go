package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// catalogLabel names the directory of a file-based catalog in its image.
const catalogLabel = labelPrefix + "index.configs.v1"

// CatalogDir is the directory of a catalog in the images of CatalogRecipe.
const CatalogDir = "configs"

// CatalogRecipe returns the recipe of an image that serves its catalog with the opm of the base, unless that is Scratch.
func CatalogRecipe(base string) Recipe {
	r := Recipe{Base: base, Labels: map[string]string{catalogLabel: "/" + CatalogDir}}
	if base != Scratch {
		r.Entrypoint = []string{"/bin/opm"}
		r.Cmd = []string{"serve", "/" + CatalogDir, "--cache-dir=/tmp/cache", "--cache-enforce-integrity=false"}
	}
	return r
}

// databaseLabel names the database of a catalog image in the format that preceded file-based catalogs.
const databaseLabel = labelPrefix + "index.database.v1"

// catalogLimits are the limits of catalog images, which contain many bundles and the program that serves them.
var catalogLimits = Limits{File: 256 << 20, Bundle: 512 << 20, Total: 2 << 30}

// OpenCatalog reads the file-based catalog of an image in one of the locations that Open supports. The root of the file
// system is the directory of the catalog.
func OpenCatalog(ctx context.Context, ref string, o Options) (fs.FS, error) {
	files, err := openCatalog(ctx, ref, o)
	return files, imageError(ctx, ref, err)
}

func openCatalog(ctx context.Context, ref string, o Options) (fs.FS, error) {
	limits := catalogLimits.orDefault()
	at, err := o.locate(ref)
	if err != nil {
		return nil, err
	}
	image, err := o.open(ctx, at, limits)
	if err != nil {
		return nil, err
	}
	labels := image.config.Config.Labels
	value, ok := labels[catalogLabel]
	switch {
	case !ok && labels[databaseLabel] != "":
		return nil, errors.New("is a catalog in the unsupported database format; convert it with 'opm migrate'")
	case !ok:
		return nil, fmt.Errorf("is not a catalog image: it has no label %s", catalogLabel)
	}
	dir := path.Clean(strings.TrimPrefix(value, "/"))
	if !fs.ValidPath(dir) || dir == "." {
		return nil, fmt.Errorf("the label %s must name a directory of the image, not %q", catalogLabel, truncate(value))
	}
	files, err := unpackDirs(ctx, image, []string{dir}, limits)
	if err != nil {
		return nil, err
	}
	if info, err := fs.Stat(files, dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the directory %s of the label %s is missing", printable(dir), catalogLabel)
	}
	return fs.Sub(files, dir)
}
