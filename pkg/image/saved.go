package image

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// savedImages returns the images in a tarball of docker save, or the one with a tag.
func (a *archive) savedImages(tag string) ([]*Image, error) {
	all, err := a.manifest()
	if err != nil {
		return nil, err
	}
	if tag != "" {
		chosen, err := selectSaved(all, tag)
		if err != nil {
			return nil, err
		}
		all = tarball.Manifest{chosen}
	}
	if len(all) == 0 {
		return nil, errors.New("contains no image")
	}
	var images []*Image
	configs := map[string]*savedConfig{}
	total := 0
	for _, d := range all {
		if n := len(d.Layers); n > a.limits.Layers {
			return nil, tooManyLayers(n, a.limits)
		}
		config := configs[d.Config]
		if config == nil {
			if config, err = a.config(d.Config); err != nil {
				return nil, err
			}
			configs[d.Config] = config
			if total += len(config.raw); total > maxDocuments {
				return nil, errDocuments
			}
		}
		img, err := partial.UncompressedToImage(savedImage{a, d, config})
		if err != nil {
			return nil, err
		}
		named := &Image{single: img}
		if len(d.RepoTags) > 0 {
			named.Name = d.RepoTags[0]
		}
		images = append(images, named)
	}
	return images, nil
}

// savedImage is an image of docker save as a partial.UncompressedImageCore. Its layers are compressed again, so that its
// digest differs from the pushed image's.
type savedImage struct {
	*archive
	desc   tarball.Descriptor
	config *savedConfig
}

// savedConfig is the configuration of a saved image.
type savedConfig struct {
	raw    []byte
	parsed *v1.ConfigFile
}

func (a *archive) config(name string) (*savedConfig, error) {
	raw, err := a.document(name)
	if err != nil {
		return nil, err
	}
	parsed, err := v1.ParseConfigFile(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", printable(name), err)
	}
	return &savedConfig{raw, parsed}, nil
}

func (s savedImage) RawConfigFile() ([]byte, error)      { return s.config.raw, nil }
func (s savedImage) MediaType() (types.MediaType, error) { return types.DockerManifestSchema2, nil }
func (s savedImage) LayerByDiffID(id v1.Hash) (partial.UncompressedLayer, error) {
	if i := slices.Index(s.config.parsed.RootFS.DiffIDs, id); i >= 0 && i < len(s.desc.Layers) {
		return savedLayer{s.archive, s.desc.Layers[i], id}, nil
	}
	return nil, fmt.Errorf("its configuration has no layer %s", shortDigest(id.String()))
}

type savedLayer struct {
	*archive
	entry string
	id    v1.Hash
}

func (s savedLayer) DiffID() (v1.Hash, error)            { return s.id, nil }
func (s savedLayer) MediaType() (types.MediaType, error) { return types.DockerLayer, nil }
func (s savedLayer) Uncompressed() (io.ReadCloser, error) {
	r, err := s.open(s.entry)
	if err != nil {
		return nil, fmt.Errorf("its %s: %w", printable(s.entry), err)
	}
	stream, end, err := decompress(&meteredReader{ctx: s.ctx, r: r}, s.limits)
	if err != nil {
		r.Close()
		return nil, err
	}
	return &verifiedReader{ReadCloser: readCloser{stream, func() error { end(); return r.Close() }}, sum: sha256.New(), want: s.id.Hex}, nil
}
