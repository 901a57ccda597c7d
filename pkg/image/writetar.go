package image

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/afero"
)

// savedEntry is an entry of manifest.json, as docker load reads it.
type savedEntry struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// WriteTarball writes images into a tarball. It is one of an OCI layout, and docker load reads it too: of an
// index it takes the image for linux/amd64, or the first one.
func WriteTarball(ctx context.Context, fsys afero.Fs, file string, images []*Image) error {
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	docker := []savedEntry{}
	var blobs []content
	var total int64
	for _, img := range images {
		all, err := img.contents(ctx, &total)
		if err != nil {
			return err
		}
		for _, c := range all {
			if !slices.ContainsFunc(blobs, func(other content) bool { return other.digest == c.digest }) {
				blobs = append(blobs, c)
			}
		}
		d, err := img.described()
		if err != nil {
			return err
		}
		index.Manifests = append(index.Manifests, d)
		entry, err := img.saved()
		if err != nil {
			return img.explain(err)
		}
		docker = append(docker, entry)
	}
	if info, err := fsys.Stat(file); err == nil && !info.Mode().IsRegular() {
		return errors.New("is no plain file")
	}
	return replace(fsys, file, func(to io.Writer) error {
		w := tar.NewWriter(to)
		entry := func(name string, size int64) error {
			return w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size, ModTime: time.Unix(0, 0)})
		}
		for _, doc := range []struct {
			name  string
			value any
		}{{"oci-layout", layoutVersion()}, {"index.json", index}, {"manifest.json", docker}} {
			data, err := json.Marshal(doc.value)
			if err != nil {
				return err
			}
			if err := entry(doc.name, int64(len(data))); err != nil {
				return err
			}
			if _, err := w.Write(data); err != nil {
				return err
			}
		}
		for _, c := range blobs {
			if err := entry(path.Join("blobs/sha256", c.digest.Hex), c.size); err != nil {
				return err
			}
			if err := c.copyTo(ctx, w); err != nil {
				return err
			}
		}
		return w.Close()
	})
}

// saved is what docker load reads of an image.
func (i *Image) saved() (savedEntry, error) {
	img := i.one
	if i.index != nil {
		var err error
		if img, err = fromIndex(i.index, 0); err != nil {
			return savedEntry{}, err
		}
	}
	m, err := img.Manifest()
	if err != nil {
		return savedEntry{}, err
	}
	entry := savedEntry{Config: "blobs/sha256/" + m.Config.Digest.Hex}
	if strings.Contains(i.Name[strings.LastIndex(i.Name, "/")+1:], ":") && !HasDigest(i.Name) {
		entry.RepoTags = []string{i.Name}
	}
	for _, l := range m.Layers {
		entry.Layers = append(entry.Layers, "blobs/sha256/"+l.Digest.Hex)
	}
	return entry, nil
}
