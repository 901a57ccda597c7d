package image

import (
	"bytes"
	"context"
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
)

// content is a blob: a manifest, a configuration or a layer.
type content struct {
	digest v1.Hash
	size   int64
	open   func() (io.ReadCloser, error)
}

func document(digest v1.Hash, data []byte) content {
	return content{digest, int64(len(data)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// contents lists what an image consists of: what is below comes first, so that nothing refers to what is not
// there yet. The size of the documents is added to total.
func (i *Image) contents(ctx context.Context, total *int64) ([]content, error) {
	var all []content
	seen := map[v1.Hash]bool{}
	add := func(c content) {
		if !seen[c.digest] {
			seen[c.digest] = true
			all = append(all, c)
		}
	}
	addDocument := func(digest v1.Hash, data []byte) error {
		add(document(digest, data))
		if *total += int64(len(data)); *total > maxDocuments {
			return errDocuments()
		}
		return ctx.Err()
	}
	var visitImage func(v1.Image) error
	var visitIndex func(v1.ImageIndex, int) error
	visitImage = func(img v1.Image) error {
		m, err := img.Manifest()
		if err != nil {
			return err
		}
		for _, d := range m.Layers {
			if len(d.URLs) > 0 || !d.MediaType.IsDistributable() {
				return fmt.Errorf("its layer %s is kept somewhere else and cannot be copied", short(d.Digest.String()))
			}
			layer, err := img.LayerByDigest(d.Digest)
			if err != nil {
				return err
			}
			add(content{d.Digest, d.Size, layer.Compressed})
		}
		config, err := img.RawConfigFile()
		if err != nil {
			return err
		}
		if err := addDocument(m.Config.Digest, config); err != nil {
			return err
		}
		data, err := img.RawManifest()
		if err != nil {
			return err
		}
		digest, err := img.Digest()
		if err != nil {
			return err
		}
		return addDocument(digest, data)
	}
	visitIndex = func(index v1.ImageIndex, depth int) error {
		m, err := index.IndexManifest()
		if err != nil {
			return err
		}
		for _, d := range m.Manifests {
			switch {
			case seen[d.Digest]:
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
				return fmt.Errorf("its index lists a %q, which is no image", d.MediaType)
			}
		}
		data, err := index.RawManifest()
		if err != nil {
			return err
		}
		digest, err := index.Digest()
		if err != nil {
			return err
		}
		return addDocument(digest, data)
	}
	var err error
	if i.index != nil {
		err = visitIndex(i.index, 0)
	} else {
		err = visitImage(i.one)
	}
	if err != nil {
		return nil, i.explain(err)
	}
	return all, nil
}

// WriteLayout puts images into a folder as an OCI layout, each under its name. What is in a layout already
// stays, apart from an image of the same name. The index is written last, so that it never lists what is
// not there.
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
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it is written last
			return fmt.Errorf("reading its index.json: %w", withoutPath(err))
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

// CheckLayout tells whether a folder can take an OCI layout: it is one, is empty, or is yet to be made.
func CheckLayout(fsys afero.Fs, dir string) error {
	entries, err := afero.ReadDir(fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return withoutPath(err)
	case len(entries) > 0 && !IsLayout(fsys, dir):
		return errors.New("is a folder with something else in it; name a new folder or an OCI layout")
	}
	return nil
}

func writeLayout(ctx context.Context, fsys afero.Fs, dir string, images []*Image, index v1.IndexManifest) error {
	blobs := filepath.Join(dir, "blobs", "sha256")
	if err := fsys.MkdirAll(blobs, 0o755); err != nil {
		return withoutPath(err)
	}
	put := func(name string, value any) error {
		return replace(fsys, filepath.Join(dir, name), func(w io.Writer) error { return json.NewEncoder(w).Encode(value) })
	}
	// What is interrupted from here on is known as a layout, and can be gone on with.
	if err := put("oci-layout", layoutVersion()); err != nil {
		return err
	}
	for _, img := range images {
		var total int64
		all, err := img.contents(ctx, &total)
		if err != nil {
			return err
		}
		for _, c := range all {
			if err := ctx.Err(); err != nil {
				return err
			}
			name := filepath.Join(blobs, c.digest.Hex)
			if info, err := fsys.Stat(name); err == nil && info.Size() == c.size {
				continue
			}
			if err := replace(fsys, name, func(w io.Writer) error { return c.copyTo(ctx, w) }); err != nil {
				return img.explain(err)
			}
		}
		d, err := img.described()
		if err != nil {
			return err
		}
		index.Manifests = slices.DeleteFunc(index.Manifests, func(old v1.Descriptor) bool {
			return old.Annotations[refName] == d.Annotations[refName] && (d.Annotations[refName] != "" || old.Digest == d.Digest)
		})
		index.Manifests = append(index.Manifests, d)
	}
	return put("index.json", index)
}

func layoutVersion() map[string]string { return map[string]string{"imageLayoutVersion": "1.0.0"} }

// described is the entry of an image in the index of a layout.
func (i *Image) described() (v1.Descriptor, error) {
	d, err := i.descriptor()
	if i.Name != "" {
		d.Annotations = map[string]string{refName: i.Name, "io.containerd.image.name": i.Name}
	}
	return d, err
}

// copyTo writes a blob, and fails where it has another digest.
func (c content) copyTo(ctx context.Context, w io.Writer) error {
	r, err := c.open()
	if err != nil {
		return err
	}
	v := &verified{ReadCloser: r, sum: newSum(), want: c.digest.Hex}
	defer v.Close()
	n, err := io.Copy(w, &metered{ctx: ctx, r: v})
	if err == nil && n != c.size {
		err = fmt.Errorf("the blob %s has %d bytes and not %d; it is damaged", short(c.digest.String()), n, c.size)
	}
	return err
}

// replace writes a file that appears as a whole or not at all.
func replace(fsys afero.Fs, name string, write func(io.Writer) error) error {
	f, err := afero.TempFile(fsys, filepath.Dir(name), ".new-")
	if err != nil {
		return withoutPath(err)
	}
	err = write(f)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = fsys.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = fsys.Rename(f.Name(), name)
	}
	if err != nil {
		_ = fsys.Remove(f.Name())
		return withoutPath(err)
	}
	return nil
}
