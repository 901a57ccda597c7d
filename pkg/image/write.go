package image

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// sizedBlob is a manifest, a configuration or a layer.
type sizedBlob struct {
	digest v1.Hash
	size   int64
	open   func() (io.ReadCloser, error)
}

// blobs returns the blobs of an image, each after those that it refers to. The size of the documents is added to total.
func (i *Image) blobs(ctx context.Context, total *int64) ([]sizedBlob, error) {
	var all []sizedBlob
	added := map[v1.Hash]bool{}
	add := func(b sizedBlob) {
		if !added[b.digest] {
			added[b.digest] = true
			all = append(all, b)
		}
	}
	addDocument := func(digest v1.Hash, data []byte) error {
		add(sizedBlob{digest, int64(len(data)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }})
		if *total += int64(len(data)); *total > maxDocuments {
			return errDocuments
		}
		return ctx.Err()
	}
	addManifest := func(of interface {
		RawManifest() ([]byte, error)
		Digest() (v1.Hash, error)
	}) error {
		data, err := of.RawManifest()
		if err != nil {
			return err
		}
		digest, err := of.Digest()
		if err != nil {
			return err
		}
		return addDocument(digest, data)
	}
	visitImage := func(img v1.Image) error {
		m, err := img.Manifest()
		if err != nil {
			return err
		}
		for _, d := range m.Layers {
			if len(d.URLs) > 0 || !d.MediaType.IsDistributable() {
				return fmt.Errorf("its layer %s is stored at another location and cannot be copied", shortDigest(d.Digest.String()))
			}
			layer, err := img.LayerByDigest(d.Digest)
			if err != nil {
				return err
			}
			add(sizedBlob{d.Digest, d.Size, layer.Compressed})
		}
		config, err := img.RawConfigFile()
		if err != nil {
			return err
		}
		if err := addDocument(m.Config.Digest, config); err != nil {
			return err
		}
		return addManifest(img)
	}
	var visitIndex func(v1.ImageIndex, int) error
	visitIndex = func(index v1.ImageIndex, depth int) error {
		m, err := index.IndexManifest()
		if err != nil {
			return err
		}
		for _, d := range m.Manifests {
			switch {
			case added[d.Digest]:
			case d.MediaType.IsImage():
				img, err := index.Image(d.Digest)
				if err == nil {
					err = visitImage(img)
				}
				if err != nil {
					return err
				}
			case d.MediaType.IsIndex() && depth < maxNesting:
				inner, err := index.ImageIndex(d.Digest)
				if err == nil {
					err = visitIndex(inner, depth+1)
				}
				if err != nil {
					return err
				}
			default:
				return fmt.Errorf("its index contains a %q, which is not an image", d.MediaType)
			}
		}
		return addManifest(index)
	}
	var err error
	if i.index != nil {
		err = visitIndex(i.index, 0)
	} else {
		err = visitImage(i.single)
	}
	if err != nil {
		return nil, i.explain(err)
	}
	return all, nil
}

// WriteLayout writes images to an OCI layout, each under its name. An existing layout keeps its other images. The index is
// written last, so that it never refers to missing blobs.
func WriteLayout(ctx context.Context, fsys afero.Fs, dir string, images []*Image) error {
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	if err := CheckLayout(fsys, dir); err != nil {
		return err
	}
	entries, err := afero.ReadDir(fsys, dir)
	missing := errors.Is(err, fs.ErrNotExist)
	if len(entries) > 0 {
		data, err := afero.ReadFile(fsys, filepath.Join(dir, "index.json"))
		if err == nil {
			err = json.Unmarshal(data, &index)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // interrupted layouts have no index
			return fmt.Errorf("reading its index.json: %w", diag.Cause(err))
		}
	}
	err = writeLayout(ctx, fsys, dir, images, index)
	if err != nil && len(entries) == 0 {
		for _, name := range []string{"blobs", "oci-layout", "index.json"} {
			_ = fsys.RemoveAll(filepath.Join(dir, name))
		}
		if missing {
			_ = fsys.Remove(dir)
		}
	}
	return err
}

// CheckLayout returns an error unless a directory is an OCI layout, is empty or does not exist.
func CheckLayout(fsys afero.Fs, dir string) error {
	entries, err := afero.ReadDir(fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return diag.Cause(err)
	case len(entries) > 0 && !IsLayout(fsys, dir):
		return errors.New("is a directory with other content; pass a new directory or an OCI layout")
	}
	return nil
}

func writeLayout(ctx context.Context, fsys afero.Fs, dir string, images []*Image, index v1.IndexManifest) error {
	blobs := filepath.Join(dir, "blobs", "sha256")
	if err := fsys.MkdirAll(blobs, 0o755); err != nil {
		return diag.Cause(err)
	}
	writeJSON := func(name string, value any) error {
		return diag.Cause(tempdir.Replace(fsys, filepath.Join(dir, name), func(w io.Writer) error { return json.NewEncoder(w).Encode(value) }))
	}
	// If the command is interrupted after this, the directory is a layout, and the command can be repeated.
	if err := writeJSON("oci-layout", layoutVersion()); err != nil {
		return err
	}
	for _, img := range images {
		var total int64
		all, err := img.blobs(ctx, &total)
		if err != nil {
			return err
		}
		for _, b := range all {
			if err := ctx.Err(); err != nil {
				return err
			}
			name := filepath.Join(blobs, b.digest.Hex)
			if info, err := fsys.Stat(name); err == nil && info.Size() == b.size {
				continue
			}
			if err := diag.Cause(tempdir.Replace(fsys, name, func(w io.Writer) error { return b.copyTo(ctx, w) })); err != nil {
				return img.explain(err)
			}
		}
		d, err := img.indexEntry()
		if err != nil {
			return err
		}
		index.Manifests = slices.DeleteFunc(index.Manifests, func(old v1.Descriptor) bool {
			return old.Annotations[refName] == d.Annotations[refName] && (d.Annotations[refName] != "" || old.Digest == d.Digest)
		})
		index.Manifests = append(index.Manifests, d)
	}
	return writeJSON("index.json", index)
}

func layoutVersion() map[string]string { return map[string]string{"imageLayoutVersion": "1.0.0"} }

// indexEntry returns the entry of an image in the index of a layout.
func (i *Image) indexEntry() (v1.Descriptor, error) {
	d, err := i.descriptor()
	if i.Name != "" {
		d.Annotations = map[string]string{refName: i.Name, "io.containerd.image.name": i.Name}
	}
	return d, err
}

// copyTo writes a blob, whose content must match its digest.
func (b sizedBlob) copyTo(ctx context.Context, w io.Writer) error {
	r, err := b.open()
	if err != nil {
		return err
	}
	v := &verifiedReader{ReadCloser: r, sum: sha256.New(), want: b.digest.Hex}
	defer v.Close()
	n, err := io.Copy(w, &meteredReader{ctx: ctx, r: v})
	if err == nil && n != b.size {
		err = fmt.Errorf("the blob %s has %d bytes instead of %d; copy the image again", shortDigest(b.digest.String()), n, b.size)
	}
	return err
}
