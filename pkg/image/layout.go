package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/afero"
)

// files are the files of an OCI layout or of a tarball, by their slash-separated names.
type files interface {
	open(name string) (io.ReadCloser, error)
}

// folder is a folder on disk.
type folder struct {
	fs  afero.Fs
	dir string
}

func (f folder) open(name string) (io.ReadCloser, error) {
	file := filepath.Join(f.dir, filepath.FromSlash(name))
	info, err := f.fs.Stat(file)
	switch {
	case err != nil:
		return nil, withoutPath(err)
	case !info.Mode().IsRegular(): // a pipe would not end
		return nil, errors.New("is no plain file")
	}
	r, err := f.fs.Open(file)
	if err != nil {
		return nil, withoutPath(err)
	}
	return r, nil
}

// openLayout finds an image in an OCI layout. The tag, or digest, says which where there are several.
func openLayout(from files, tag string) (*found, error) {
	r, err := from.open("index.json")
	if err != nil {
		return nil, fmt.Errorf("is no OCI layout: its index.json: %w", err)
	}
	data, err := readDocument("index.json", r)
	if err != nil {
		return nil, err
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, fmt.Errorf("reading index.json: %w", err)
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
		data, err := readBlob(from, chosen.Digest)
		if err != nil {
			return nil, err
		}
		index = v1.IndexManifest{}
		if err := json.Unmarshal(data, &index); err != nil {
			return nil, fmt.Errorf("reading the index %s: %w", short(chosen.Digest.String()), err)
		}
		tag = "" // an inner index lists one image for several platforms
	}
}

const refName = "org.opencontainers.image.ref.name"

// choose takes an image of a layout's index.
func choose(all []v1.Descriptor, tag string) (v1.Descriptor, error) {
	candidates := imagesOf(all)
	var names []string
	for _, d := range candidates {
		names = append(names, nameOf(d))
	}
	listed := strings.Join(names, ", ")
	if tag != "" {
		candidates = slices.DeleteFunc(candidates, func(d v1.Descriptor) bool {
			name := d.Annotations[refName]
			return d.Digest.String() != tag && name != tag && !strings.HasSuffix(name, ":"+tag)
		})
		if len(candidates) == 0 {
			return v1.Descriptor{}, fmt.Errorf("holds no image %s; it has: %s", tag, listed)
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
		return v1.Descriptor{}, fmt.Errorf("holds %d images; name one of them behind a colon: %s", len(candidates), listed)
	}
	return forPlatform(candidates), nil
}

func nameOf(d v1.Descriptor) string {
	if name := d.Annotations[refName]; name != "" {
		return name
	}
	return d.Digest.String()
}

func readBlob(from files, digest v1.Hash) ([]byte, error) {
	r, err := openBlob(from, digest)
	if err != nil {
		return nil, err
	}
	return readDocument("the blob "+short(digest.String()), r)
}

// openBlob opens what has a digest, and fails at its end where it has another one.
func openBlob(from files, digest v1.Hash) (io.ReadCloser, error) {
	if raw, err := hex.DecodeString(digest.Hex); err != nil || digest.Algorithm != "sha256" || len(raw) != sha256.Size {
		return nil, fmt.Errorf("the digest %q is none of sha256", digest)
	}
	r, err := from.open("blobs/sha256/" + digest.Hex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the blob %s is missing; copy the image again, with all of its blobs", short(digest.String()))
	}
	if err != nil {
		return nil, fmt.Errorf("the blob %s: %w", short(digest.String()), err)
	}
	return &verified{ReadCloser: r, sum: newSum(), want: digest.Hex}, nil
}

func newSum() hash.Hash { return sha256.New() }

// verified is a stream with a digest.
type verified struct {
	io.ReadCloser
	sum  hash.Hash
	want string
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.sum.Write(p[:n])
	if err == io.EOF && hex.EncodeToString(v.sum.Sum(nil)) != v.want {
		return n, errors.New("its content does not fit its digest; it is damaged, copy the image again")
	}
	return n, err
}

// layoutImage is an image of a layout, as the library wants it.
type layoutImage struct {
	from files
	desc v1.Descriptor
}

func (l layoutImage) RawManifest() ([]byte, error)        { return readBlob(l.from, l.desc.Digest) }
func (l layoutImage) MediaType() (types.MediaType, error) { return l.desc.MediaType, nil }

func (l layoutImage) RawConfigFile() ([]byte, error) {
	m, err := l.manifest()
	if err != nil {
		return nil, err
	}
	return readBlob(l.from, m.Config.Digest)
}

func (l layoutImage) manifest() (*v1.Manifest, error) {
	data, err := l.RawManifest()
	if err != nil {
		return nil, err
	}
	return v1.ParseManifest(bytes.NewReader(data))
}

func (l layoutImage) LayerByDigest(digest v1.Hash) (partial.CompressedLayer, error) {
	m, err := l.manifest()
	if err != nil {
		return nil, err
	}
	for _, d := range append(m.Layers, m.Config) {
		if d.Digest == digest {
			return layoutLayer{l.from, d}, nil
		}
	}
	return nil, fmt.Errorf("its manifest has no layer %s", digest)
}

type layoutLayer struct {
	from files
	desc v1.Descriptor
}

func (l layoutLayer) Digest() (v1.Hash, error)            { return l.desc.Digest, nil }
func (l layoutLayer) Size() (int64, error)                { return l.desc.Size, nil }
func (l layoutLayer) MediaType() (types.MediaType, error) { return l.desc.MediaType, nil }
func (l layoutLayer) Compressed() (io.ReadCloser, error)  { return openBlob(l.from, l.desc.Digest) }
