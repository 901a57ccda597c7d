package image

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A Blob is a part of an artifact.
type Blob struct {
	MediaType string
	Data      []byte
}

// NewArtifact returns what a registry stores like an image, but isn't one, such as a Helm chart. The same parts give the same digest.
func NewArtifact(config Blob, layers []Blob, annotations map[string]string) (*Image, error) {
	a := &artifact{config: config, layers: map[v1.Hash]v1.Layer{}}
	m := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Annotations: annotations}
	var err error
	if m.Config, err = config.descriptor(); err != nil {
		return nil, err
	}
	for _, layer := range layers {
		d, err := layer.descriptor()
		if err != nil {
			return nil, err
		}
		m.Layers = append(m.Layers, d)
		a.layers[d.Digest] = blobLayer{layer.Data, d}
	}
	if a.manifest, err = json.Marshal(m); err != nil { // sorts the annotations
		return nil, err
	}
	return &Image{single: a}, nil
}

func (b Blob) descriptor() (v1.Descriptor, error) {
	digest, size, err := v1.SHA256(bytes.NewReader(b.Data))
	return v1.Descriptor{MediaType: types.MediaType(b.MediaType), Digest: digest, Size: size}, err
}

// An artifact implements v1.Image, whose name for the configuration of a container is the only part that it doesn't have.
type artifact struct {
	config   Blob
	layers   map[v1.Hash]v1.Layer
	manifest []byte
}

func (a *artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (a *artifact) Size() (int64, error)                { return int64(len(a.manifest)), nil }
func (a *artifact) RawManifest() ([]byte, error)        { return a.manifest, nil }
func (a *artifact) RawConfigFile() ([]byte, error)      { return a.config.Data, nil }
func (a *artifact) ConfigFile() (*v1.ConfigFile, error) { return &v1.ConfigFile{}, nil }
func (a *artifact) Manifest() (*v1.Manifest, error) {
	return v1.ParseManifest(bytes.NewReader(a.manifest))
}
func (a *artifact) LayerByDiffID(h v1.Hash) (v1.Layer, error) { return a.LayerByDigest(h) }

// Digest returns the digest of the manifest.
func (a *artifact) Digest() (v1.Hash, error) {
	digest, _, err := v1.SHA256(bytes.NewReader(a.manifest))
	return digest, err
}

// ConfigName returns the digest of the configuration.
func (a *artifact) ConfigName() (v1.Hash, error) {
	digest, _, err := v1.SHA256(bytes.NewReader(a.config.Data))
	return digest, err
}

// Layers returns the layers in the order of the manifest.
func (a *artifact) Layers() ([]v1.Layer, error) {
	m, err := a.Manifest()
	if err != nil {
		return nil, err
	}
	var layers []v1.Layer
	for _, d := range m.Layers {
		layers = append(layers, a.layers[d.Digest])
	}
	return layers, nil
}

// LayerByDigest returns a layer, or the configuration.
func (a *artifact) LayerByDigest(digest v1.Hash) (v1.Layer, error) {
	if layer, ok := a.layers[digest]; ok {
		return layer, nil
	}
	if d, err := a.config.descriptor(); err == nil && d.Digest == digest {
		return blobLayer{a.config.Data, d}, nil
	}
	return nil, fmt.Errorf("the artifact has no part %s", digest)
}

// A blobLayer is a layer whose bytes are sent as they are.
type blobLayer struct {
	data       []byte
	descriptor v1.Descriptor
}

func (l blobLayer) Digest() (v1.Hash, error)            { return l.descriptor.Digest, nil }
func (l blobLayer) DiffID() (v1.Hash, error)            { return l.descriptor.Digest, nil }
func (l blobLayer) Size() (int64, error)                { return l.descriptor.Size, nil }
func (l blobLayer) MediaType() (types.MediaType, error) { return l.descriptor.MediaType, nil }
func (l blobLayer) Compressed() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(l.data)), nil
}
func (l blobLayer) Uncompressed() (io.ReadCloser, error) { return l.Compressed() }
