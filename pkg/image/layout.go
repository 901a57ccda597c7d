package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
)

// files gives access to the files of an OCI layout in a directory or a tarball, by their slash-separated names.
type files interface {
	open(name string) (io.ReadCloser, error)
}

// directory is a directory of a file system.
type directory struct {
	fs   afero.Fs
	path string
}

func (d directory) open(name string) (io.ReadCloser, error) {
	file := filepath.Join(d.path, filepath.FromSlash(name))
	info, err := d.fs.Stat(file)
	switch {
	case err != nil:
		return nil, diag.Cause(err)
	case !info.Mode().IsRegular(): // reading a pipe would block
		return nil, errors.New("is not a regular file")
	}
	r, err := d.fs.Open(file)
	if err != nil {
		return nil, diag.Cause(err)
	}
	return r, nil
}

func readBlob(from files, digest v1.Hash) ([]byte, error) {
	r, err := openBlob(from, digest)
	if err != nil {
		return nil, err
	}
	return readDocument("the blob "+shortDigest(digest.String()), r)
}

// readManifest reads a manifest or an index.
func readManifest(from files, digest v1.Hash) ([]byte, error) {
	data, err := readBlob(from, digest)
	if err != nil {
		return nil, err
	}
	return data, checkDocument(data, maxListed)
}

// openBlob opens a blob. Reading to its end returns an error if the content does not match the digest.
func openBlob(from files, digest v1.Hash) (io.ReadCloser, error) {
	if raw, err := hex.DecodeString(digest.Hex); err != nil || digest.Algorithm != "sha256" || len(raw) != sha256.Size {
		return nil, fmt.Errorf("the digest %q is not a valid sha256 digest", digest)
	}
	r, err := from.open("blobs/sha256/" + digest.Hex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the blob %s is missing; copy the image again, with all of its blobs", shortDigest(digest.String()))
	}
	if err != nil {
		return nil, fmt.Errorf("the blob %s: %w", shortDigest(digest.String()), err)
	}
	return &verifiedReader{ReadCloser: r, sum: sha256.New(), want: digest.Hex}, nil
}

// verifiedReader is a stream with an expected digest.
type verifiedReader struct {
	io.ReadCloser
	sum  hash.Hash
	want string
}

func (v *verifiedReader) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.sum.Write(p[:n])
	if err == io.EOF && hex.EncodeToString(v.sum.Sum(nil)) != v.want {
		return n, errors.New("its content does not match its digest; copy the image again")
	}
	return n, err
}

// layoutImage is an image of a layout as a partial.CompressedImageCore.
type layoutImage struct {
	from files
	desc v1.Descriptor
}

func (l layoutImage) RawManifest() ([]byte, error)        { return readManifest(l.from, l.desc.Digest) }
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
