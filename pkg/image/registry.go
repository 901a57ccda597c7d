package image

import (
	"context"
	"fmt"
	"io"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// pull finds an image in a registry.
func (r Registries) pull(ctx context.Context, ref string) (*found, error) {
	parsed, err := parse(ref, r.PlainHTTP)
	if err != nil {
		return nil, err
	}
	sources, err := r.sources(parsed)
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, s := range sources {
		image, err := s.get(ctx)
		if err == nil {
			return image, nil
		}
		failures = append(failures, err)
	}
	return nil, inOneLine(failures)
}

// inOneLine joins what a mirror and its registry say.
func inOneLine(failures []error) error {
	joined := failures[0]
	for _, err := range failures[1:] {
		joined = fmt.Errorf("%w; %w", joined, err)
	}
	return joined
}

func (s source) get(ctx context.Context) (*found, error) {
	ref, fail := s.ref, s.explain
	got, err := remote.Get(ref, s.options(ctx)...)
	if err != nil {
		return nil, fail(err)
	}
	var image v1.Image
	switch {
	case got.MediaType.IsIndex():
		index, err := got.ImageIndex()
		if err != nil {
			return nil, fail(err)
		}
		if image, err = fromIndex(index, 0); err != nil {
			return nil, fail(err)
		}
	case got.MediaType.IsImage():
		if image, err = got.Image(); err != nil {
			return nil, fail(err)
		}
	default:
		return nil, fmt.Errorf("%w: %s holds a %q under that name", ErrNoBundle, ref.Context().RegistryStr(), got.MediaType)
	}
	return fromImage(image, fail)
}

// fromImage lists the layers of an image; fail explains what its source says.
func fromImage(image v1.Image, fail func(error) error) (*found, error) {
	m, err := image.Manifest()
	if err != nil {
		return nil, fail(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fail(err)
	}
	digest, err := image.Digest()
	if err != nil {
		return nil, fail(err)
	}
	f := &found{config: config, digest: digest.String()}
	for _, layer := range m.Layers {
		if len(layer.URLs) > 0 || !layer.MediaType.IsDistributable() {
			return nil, fmt.Errorf("%w: its layer %s is kept somewhere else, which no bundle needs", ErrNoBundle, short(layer.Digest.String()))
		}
		f.layers = append(f.layers, blob{name: layer.Digest.String(), open: func() (io.ReadCloser, error) {
			l, err := image.LayerByDigest(layer.Digest)
			if err != nil {
				return nil, fail(err)
			}
			r, err := l.Compressed()
			if err != nil {
				return nil, fail(err)
			}
			return r, nil
		}})
	}
	return f, nil
}

// maxNesting is how deep indexes may lie in indexes.
const maxNesting = 3

// fromIndex takes the image of an index that fits: bundles hold no programs, so any platform will do,
// and linux/amd64 is the one that exists everywhere.
func fromIndex(index v1.ImageIndex, depth int) (v1.Image, error) {
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	candidates := imagesOf(m.Manifests)
	if len(candidates) == 0 || depth > maxNesting {
		return nil, fmt.Errorf("%w: its index lists no image", ErrNoBundle)
	}
	chosen := forPlatform(candidates)
	if chosen.MediaType.IsIndex() {
		inner, err := index.ImageIndex(chosen.Digest)
		if err != nil {
			return nil, err
		}
		return fromIndex(inner, depth+1)
	}
	return index.Image(chosen.Digest)
}

// imagesOf leaves out what builders add to an index, such as attestations.
func imagesOf(all []v1.Descriptor) []v1.Descriptor {
	return slices.DeleteFunc(slices.Clone(all), func(d v1.Descriptor) bool {
		return d.Annotations["vnd.docker.reference.type"] != "" || d.Platform != nil && d.Platform.OS == "unknown" ||
			!d.MediaType.IsImage() && !d.MediaType.IsIndex()
	})
}

func forPlatform(candidates []v1.Descriptor) v1.Descriptor {
	for _, d := range candidates {
		if d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == "amd64" {
			return d
		}
	}
	return candidates[0]
}
