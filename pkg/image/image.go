package image

import (
	"context"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Image is an image, or an index of images for several platforms, that was made or found somewhere. Its
// layers are read when they are needed.
type Image struct {
	// Name is what the image is called where it was found; it may be empty.
	Name  string
	one   v1.Image
	index v1.ImageIndex
	// fail explains what the source says.
	fail func(error) error
}

func (i *Image) fetched() bool { return i.one != nil || i.index != nil }

func (i *Image) explain(err error) error {
	if i.fail == nil {
		return err
	}
	return i.fail(err)
}

// Names lists the names of images for a message; of many, the first ones.
func Names(images []*Image) string {
	var names []string
	for _, i := range images {
		names = append(names, i.Name)
	}
	return listed(names)
}

// Digest is that of the image's manifest, or of its index.
func (i *Image) Digest() (string, error) {
	d, err := i.descriptor()
	return d.Digest.String(), err
}

func (i *Image) descriptor() (v1.Descriptor, error) {
	of := partial.Describable(i.one)
	if i.index != nil {
		of = i.index
	}
	d, err := partial.Descriptor(of)
	if err != nil {
		return v1.Descriptor{}, i.explain(err)
	}
	return v1.Descriptor{MediaType: d.MediaType, Size: d.Size, Digest: d.Digest}, nil
}

// copyLimits bound tarballs whose images are copied as they are.
func copyLimits() Limits {
	return Limits{Entries: 100_000, Total: 1 << 40, File: 1 << 40, Bundle: 1 << 40, Layers: 1000}.orDefault()
}

// Images finds the images that a reference names, as Open does; an OCI layout or a tarball without a tag
// behind it gives all that it holds.
func (o Options) Images(ctx context.Context, ref string) ([]*Image, error) {
	images, err := o.images(ctx, ref)
	switch {
	case err == nil:
		return images, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("image %s: %w", withoutPassword(ref), context.Cause(ctx))
	}
	return nil, fmt.Errorf("image %s: %w", withoutPassword(ref), err)
}

// one finds one image.
func (o Options) one(ctx context.Context, ref string) (*Image, error) {
	images, err := o.Images(ctx, ref)
	if err != nil {
		return nil, err
	}
	if len(images) > 1 {
		return nil, fmt.Errorf("%s holds %d images; name one of them behind a colon: %s", ref, len(images), Names(images))
	}
	return images[0], nil
}

func (o Options) images(ctx context.Context, ref string) ([]*Image, error) {
	at, err := o.locate(ref)
	switch {
	case err != nil:
		return nil, err
	case at.remote != "":
		img, err := o.remote(ctx, at.remote)
		return []*Image{img}, err
	case at.info.IsDir():
		return layoutImages(folder{fs: o.FS, dir: at.file}, at.tag)
	}
	a, err := scanArchive(ctx, o.FS, at.file, copyLimits())
	switch {
	case err != nil:
		return nil, err
	case a.has("index.json"):
		return layoutImages(a, at.tag)
	case a.has("manifest.json"):
		return a.saved(at.tag)
	}
	return nil, errNoArchive()
}

// remote finds an image in a registry.
func (o Options) remote(ctx context.Context, ref string) (*Image, error) {
	parsed, err := parse(ref, o.PlainHTTP)
	if err != nil {
		return nil, err
	}
	sources, err := o.sources(parsed)
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, s := range sources {
		img, err := s.image(ctx)
		if err == nil {
			img.Name = parsed.Name()
			return img, nil
		}
		failures = append(failures, err)
	}
	return nil, inOneLine(failures)
}

func (s source) image(ctx context.Context) (*Image, error) {
	got, err := remote.Get(s.ref, s.options(ctx)...)
	if err != nil {
		return nil, s.explain(err)
	}
	img := &Image{fail: s.explain}
	switch {
	case got.MediaType.IsIndex():
		img.index, err = got.ImageIndex()
	case got.MediaType.IsImage():
		img.one, err = got.Image()
	default:
		return nil, fmt.Errorf("%s holds a %q under that name, which is no image", s.ref.Context().RegistryStr(), got.MediaType)
	}
	if err != nil {
		return nil, s.explain(err)
	}
	return img, nil
}
