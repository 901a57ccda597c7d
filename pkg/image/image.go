package image

import (
	"context"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
)

// An Image is an image, or an index of images for several platforms. Its layers are read when they are needed.
type Image struct {
	// Name is the name of the image in its source; it may be empty.
	Name   string
	single v1.Image
	index  v1.ImageIndex
	// explainError, if not nil, adds the source of the image to an error.
	explainError func(error) error
}

func (i *Image) isEmpty() bool { return i.single == nil && i.index == nil }

func (i *Image) explain(err error) error {
	if i.explainError == nil {
		return err
	}
	return i.explainError(err)
}

// Names lists the names of images for a message, truncated if there are many.
func Names(images []*Image) string {
	var names []string
	for _, i := range images {
		names = append(names, i.Name)
	}
	return joinNames(names)
}

// Digest returns the digest of the image's manifest or index.
func (i *Image) Digest() (string, error) {
	d, err := i.descriptor()
	return d.Digest.String(), err
}

func (i *Image) descriptor() (v1.Descriptor, error) {
	of := partial.Describable(i.single)
	if i.index != nil {
		of = i.index
	}
	d, err := partial.Descriptor(of)
	if err != nil {
		return v1.Descriptor{}, i.explain(err)
	}
	return v1.Descriptor{MediaType: d.MediaType, Size: d.Size, Digest: d.Digest}, nil
}

// copyLimits returns the limits of tarballs whose images are copied without reading their layers.
func copyLimits() Limits {
	return Limits{Entries: 100_000, Total: 1 << 40, File: 1 << 40, Bundle: 1 << 40, Layers: 1000}.orDefault()
}

// Images finds the images of a reference in the locations that Open supports. An OCI layout or a tarball without a tag
// returns all its images.
func (o Options) Images(ctx context.Context, ref string) ([]*Image, error) {
	images, err := o.images(ctx, ref)
	return images, imageError(ctx, ref, err)
}

// image finds the only image of a reference.
func (o Options) image(ctx context.Context, ref string) (*Image, error) {
	images, err := o.Images(ctx, ref)
	if err != nil {
		return nil, err
	}
	if len(images) > 1 {
		return nil, fmt.Errorf("%s contains %d images; append the name of one after a colon: %s", ref, len(images), Names(images))
	}
	return images[0], nil
}

func (o Options) images(ctx context.Context, ref string) ([]*Image, error) {
	at, err := o.locate(ref)
	switch {
	case err != nil:
		return nil, err
	case at.remote != "":
		img, err := o.fetchImage(ctx, at.remote)
		return []*Image{img}, err
	case at.info.IsDir():
		return layoutImages(directory{fs: o.FS, path: at.file}, at.tag)
	}
	a, err := scanArchive(ctx, o.FS, at.file, copyLimits())
	switch {
	case err != nil:
		return nil, err
	case a.has("index.json"):
		return layoutImages(a, at.tag)
	case a.has("manifest.json"):
		return a.savedImages(at.tag)
	}
	return nil, errNotArchive
}
