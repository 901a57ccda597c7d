package image

import (
	"bytes"
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

// readIndex reads the index.json of an OCI layout.
func readIndex(from files) (*v1.IndexManifest, error) {
	r, err := from.open("index.json")
	if err != nil {
		return nil, fmt.Errorf("is not an OCI layout: its index.json: %w", err)
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

// hasName reports whether an image of a layout has a tag or digest.
func hasName(d v1.Descriptor, tag string) bool {
	name := d.Annotations[refName]
	return d.Digest.String() == tag || name == tag || strings.HasSuffix(name, ":"+tag)
}

func nameOf(d v1.Descriptor) string {
	if name := d.Annotations[refName]; name != "" {
		return name
	}
	return d.Digest.String()
}

// openLayout finds an image in an OCI layout. The tag or digest is required if the layout contains several.
func openLayout(from files, tag string) (*packedImage, error) {
	index, err := readIndex(from)
	if err != nil {
		return nil, err
	}
	for depth := 0; ; depth++ {
		chosen, err := selectImage(index.Manifests, tag)
		if err != nil {
			return nil, err
		}
		if chosen.MediaType.IsImage() {
			image, err := partial.CompressedToImage(layoutImage{from, chosen})
			if err != nil {
				return nil, err
			}
			return newPackedImage(image, func(err error) error { return err })
		}
		if depth > maxNesting {
			return nil, fmt.Errorf("%w: its index contains no image", ErrNotBundle)
		}
		data, err := readManifest(from, chosen.Digest)
		if err != nil {
			return nil, err
		}
		index = &v1.IndexManifest{}
		if err := json.Unmarshal(data, index); err != nil {
			return nil, fmt.Errorf("reading the index %s: %w", shortDigest(chosen.Digest.String()), err)
		}
		tag = "" // an inner index contains one image for several platforms
	}
}

// selectImage selects an image of a layout's index by its tag or digest.
func selectImage(all []v1.Descriptor, tag string) (v1.Descriptor, error) {
	candidates := imagesOf(all)
	var names []string
	for _, d := range candidates {
		names = append(names, nameOf(d))
	}
	if tag != "" {
		candidates = slices.DeleteFunc(candidates, func(d v1.Descriptor) bool { return !hasName(d, tag) })
		if len(candidates) == 0 {
			return v1.Descriptor{}, errNoImage(tag, names)
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
		return v1.Descriptor{}, fmt.Errorf("%w: its index contains no image", ErrNotBundle)
	case len(candidates) > 1 && len(platforms) != len(candidates):
		return v1.Descriptor{}, errSeveralImages(len(candidates), names)
	}
	return preferredDescriptor(candidates), nil
}

// layoutImages returns the images of an OCI layout, or those with a tag or digest.
func layoutImages(from files, tag string) ([]*Image, error) {
	index, err := readIndex(from)
	if err != nil {
		return nil, err
	}
	var images []*Image
	var names []string
	for _, d := range imagesOf(index.Manifests) {
		names = append(names, nameOf(d))
		if tag != "" && !hasName(d, tag) {
			continue
		}
		img := &Image{Name: d.Annotations[refName]}
		if d.MediaType.IsIndex() {
			img.index = layoutIndex{from, d}
		} else if img.single, err = partial.CompressedToImage(layoutImage{from, d}); err != nil {
			return nil, err
		}
		images = append(images, img)
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("contains no image")
	case len(images) == 0:
		return nil, errNoImage(tag, names)
	}
	return images, nil
}

// layoutIndex is an index of a layout as a v1.ImageIndex.
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
	return v1.ParseIndexManifest(bytes.NewReader(data))
}

// child returns an image or index that the index contains.
func (l layoutIndex) child(digest v1.Hash) (layoutImage, error) {
	m, err := l.IndexManifest()
	if err != nil {
		return layoutImage{}, err
	}
	for _, d := range m.Manifests {
		if d.Digest == digest {
			return layoutImage{l.from, d}, nil
		}
	}
	return layoutImage{}, fmt.Errorf("its index has no image %s", shortDigest(digest.String()))
}

func (l layoutIndex) Image(digest v1.Hash) (v1.Image, error) {
	child, err := l.child(digest)
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(child)
}

func (l layoutIndex) ImageIndex(digest v1.Hash) (v1.ImageIndex, error) {
	child, err := l.child(digest)
	return layoutIndex(child), err
}
