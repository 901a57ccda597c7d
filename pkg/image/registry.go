package image

import (
	"context"
	"fmt"
	"io"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// pull fetches the image of a bundle or a catalog from a registry.
func (r Registries) pull(ctx context.Context, ref string) (*packedImage, error) {
	parsed, err := parse(ref, r.PlainHTTP)
	if err != nil {
		return nil, err
	}
	return fetchFirst(r, parsed, func(s source) (*packedImage, error) {
		img, err := s.fetch(ctx)
		if err != nil {
			return nil, err
		}
		preferred, err := img.preferred()
		if err != nil {
			return nil, s.explain(err)
		}
		return newPackedImage(preferred, s.explain)
	})
}

// fetchImage fetches an image from a registry.
func (r Registries) fetchImage(ctx context.Context, ref string) (*Image, error) {
	parsed, err := parse(ref, r.PlainHTTP)
	if err != nil {
		return nil, err
	}
	return fetchFirst(r, parsed, func(s source) (*Image, error) {
		img, err := s.fetch(ctx)
		if err == nil {
			img.Name = parsed.Name()
		}
		return img, err
	})
}

// fetch fetches the manifest or index of the image.
func (s source) fetch(ctx context.Context) (*Image, error) {
	got, err := remote.Get(s.ref, s.options(ctx)...)
	if err != nil {
		return nil, s.explain(err)
	}
	img := &Image{explainError: s.explain}
	switch {
	case got.MediaType.IsIndex():
		img.index, err = got.ImageIndex()
	case got.MediaType.IsImage():
		img.single, err = got.Image()
	default:
		return nil, fmt.Errorf("%s has a %q under that name, not an image", s.ref.Context().RegistryStr(), got.MediaType)
	}
	if err != nil {
		return nil, s.explain(err)
	}
	return img, nil
}

// newPackedImage lists the layers of an image. Explain adds the source of the image to errors.
func newPackedImage(image v1.Image, explain func(error) error) (*packedImage, error) {
	m, err := image.Manifest()
	if err != nil {
		return nil, explain(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, explain(err)
	}
	digest, err := image.Digest()
	if err != nil {
		return nil, explain(err)
	}
	p := &packedImage{config: config, digest: digest.String()}
	for _, layer := range m.Layers {
		if len(layer.URLs) > 0 || !layer.MediaType.IsDistributable() {
			return nil, fmt.Errorf("%w: its layer %s is stored at another location, which is unsupported", ErrNotBundle, shortDigest(layer.Digest.String()))
		}
		p.layers = append(p.layers, blob{name: layer.Digest.String(), open: func() (io.ReadCloser, error) {
			l, err := image.LayerByDigest(layer.Digest)
			if err != nil {
				return nil, explain(err)
			}
			r, err := l.Compressed()
			if err != nil {
				return nil, explain(err)
			}
			return r, nil
		}})
	}
	return p, nil
}

// preferred returns the image for linux/amd64, or the first one of an index: bundles contain no programs, so that any
// platform is suitable.
func (i *Image) preferred() (v1.Image, error) {
	if i.index == nil {
		return i.single, nil
	}
	return preferredOf(i.index, 0)
}

// maxNesting is the maximum nesting of indexes.
const maxNesting = 3

func preferredOf(index v1.ImageIndex, depth int) (v1.Image, error) {
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	candidates := imagesOf(m.Manifests)
	if len(candidates) == 0 || depth > maxNesting {
		return nil, fmt.Errorf("%w: its index contains no image", ErrNotBundle)
	}
	chosen := preferredDescriptor(candidates)
	if chosen.MediaType.IsIndex() {
		inner, err := index.ImageIndex(chosen.Digest)
		if err != nil {
			return nil, err
		}
		return preferredOf(inner, depth+1)
	}
	return index.Image(chosen.Digest)
}

// preferredDescriptor returns the descriptor for linux/amd64, or the first one.
func preferredDescriptor(candidates []v1.Descriptor) v1.Descriptor {
	for _, d := range candidates {
		if d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == "amd64" {
			return d
		}
	}
	return candidates[0]
}

// imagesOf returns the images and indexes in an index, without additions of builders such as attestations.
func imagesOf(all []v1.Descriptor) []v1.Descriptor {
	return slices.DeleteFunc(slices.Clone(all), func(d v1.Descriptor) bool {
		return d.Annotations["vnd.docker.reference.type"] != "" || d.Platform != nil && d.Platform.OS == "unknown" ||
			!d.MediaType.IsImage() && !d.MediaType.IsIndex()
	})
}
