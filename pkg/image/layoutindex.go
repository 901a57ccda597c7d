package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const refName = "org.opencontainers.image.ref.name"

// layoutIndexOf reads the list of images in an OCI layout.
func layoutIndexOf(from files) (*v1.IndexManifest, error) {
	r, err := from.open("index.json")
	if err != nil {
		return nil, fmt.Errorf("is no OCI layout: its index.json: %w", err)
	}
	data, err := readDocument("index.json", r)
	if err == nil {
		err = checkDocument(data, maxImages)
	}
	if err != nil {
		return nil, err
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, fmt.Errorf("reading index.json: %w", err)
	}
	return &index, nil
}

// called tells whether an image of a layout has a tag or digest.
func called(d v1.Descriptor, tag string) bool {
	name := d.Annotations[refName]
	return d.Digest.String() == tag || name == tag || strings.HasSuffix(name, ":"+tag)
}

func nameOf(d v1.Descriptor) string {
	if name := d.Annotations[refName]; name != "" {
		return name
	}
	return d.Digest.String()
}

// openLayout finds an image in an OCI layout. The tag, or digest, says which where there are several.
func openLayout(from files, tag string) (*found, error) {
	index, err := layoutIndexOf(from)
	if err != nil {
		return nil, err
	}
	fail := func(err error) error { return err }
	for depth := 0; ; depth++ {
		chosen, err := choose(index.Manifests, tag)
		if err != nil {
			return nil, err
		}
		if chosen.MediaType.IsImage() {
			image, err := partial.CompressedToImage(layoutImage{from, chosen})
			if err != nil {
				return nil, err
			}
			return fromImage(image, fail)
		}
		if depth > maxNesting {
			return nil, fmt.Errorf("%w: its index lists no image", ErrNoBundle)
		}
		data, err := readManifest(from, chosen.Digest)
		if err != nil {
			return nil, err
		}
		index = &v1.IndexManifest{}
		if err := json.Unmarshal(data, index); err != nil {
			return nil, fmt.Errorf("reading the index %s: %w", short(chosen.Digest.String()), err)
		}
		tag = "" // an inner index lists one image for several platforms
	}
}

// choose takes an image of a layout's index.
func choose(all []v1.Descriptor, tag string) (v1.Descriptor, error) {
	candidates := imagesOf(all)
	var names []string
	for _, d := range candidates {
		names = append(names, nameOf(d))
	}
	if tag != "" {
		candidates = slices.DeleteFunc(candidates, func(d v1.Descriptor) bool { return !called(d, tag) })
		if len(candidates) == 0 {
			return v1.Descriptor{}, fmt.Errorf("holds no image %s; it has: %s", tag, listed(names))
		}
	}
	platforms := map[string]bool{}
	for _, d := range candidates {
		if d.Platform != nil {
			platforms[d.Platform.String()] = true
		}
	}
	switch {
	case len(candidates) == 0:
		return v1.Descriptor{}, fmt.Errorf("%w: its index lists no image", ErrNoBundle)
	case len(candidates) > 1 && len(platforms) != len(candidates):
		return v1.Descriptor{}, fmt.Errorf("holds %d images; name one of them behind a colon: %s", len(candidates), listed(names))
	}
	return forPlatform(candidates), nil
}

// layoutImages are the images of an OCI layout, or the one with a tag or digest.
func layoutImages(from files, tag string) ([]*Image, error) {
	index, err := layoutIndexOf(from)
	if err != nil {
		return nil, err
	}
	var images []*Image
	var names []string
	for _, d := range imagesOf(index.Manifests) {
		names = append(names, nameOf(d))
		if tag != "" && !called(d, tag) {
			continue
		}
		img := &Image{Name: d.Annotations[refName]}
		if d.MediaType.IsIndex() {
			img.index = layoutIndex{from, d}
		} else if img.one, err = partial.CompressedToImage(layoutImage{from, d}); err != nil {
			return nil, err
		}
		images = append(images, img)
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("holds no image")
	case len(images) == 0:
		return nil, fmt.Errorf("holds no image %s; it has: %s", tag, listed(names))
	}
	return images, nil
}

// layoutIndex is an index of a layout, as the library wants it.
type layoutIndex struct {
	from files
	desc v1.Descriptor
}

func (l layoutIndex) MediaType() (types.MediaType, error) { return l.desc.MediaType, nil }
func (l layoutIndex) Digest() (v1.Hash, error)            { return l.desc.Digest, nil }
func (l layoutIndex) Size() (int64, error)                { return l.desc.Size, nil }
func (l layoutIndex) RawManifest() ([]byte, error)        { return readManifest(l.from, l.desc.Digest) }

func (l layoutIndex) IndexManifest() (*v1.IndexManifest, error) {
	data, err := l.RawManifest()
	if err != nil {
		return nil, err
	}
	return v1.ParseIndexManifest(strings.NewReader(string(data)))
}

func (l layoutIndex) below(digest v1.Hash) (layoutImage, error) {
	m, err := l.IndexManifest()
	if err != nil {
		return layoutImage{}, err
	}
	for _, d := range m.Manifests {
		if d.Digest == digest {
			return layoutImage{l.from, d}, nil
		}
	}
	return layoutImage{}, fmt.Errorf("its index has no image %s", short(digest.String()))
}

func (l layoutIndex) Image(digest v1.Hash) (v1.Image, error) {
	found, err := l.below(digest)
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(found)
}

func (l layoutIndex) ImageIndex(digest v1.Hash) (v1.ImageIndex, error) {
	found, err := l.below(digest)
	return layoutIndex(found), err
}
