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

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// savedEntry is an entry of the manifest.json of docker load.
type savedEntry struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// WriteTarball writes images to a tarball of an OCI layout. docker load reads it, too: from an index it loads the image for
// linux/amd64, or the first one.
func WriteTarball(ctx context.Context, fsys afero.Fs, file string, images []*Image) error {
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	docker := []savedEntry{}
	var blobs []sizedBlob
	var total int64
	for _, img := range images {
		all, err := img.blobs(ctx, &total)
		if err != nil {
			return err
		}
		for _, b := range all {
			if !slices.ContainsFunc(blobs, func(other sizedBlob) bool { return other.digest == b.digest }) {
				blobs = append(blobs, b)
			}
		}
		d, err := img.indexEntry()
		if err != nil {
			return err
		}
		index.Manifests = append(index.Manifests, d)
		entry, err := img.savedEntry()
		if err != nil {
			return img.explain(err)
		}
		docker = append(docker, entry)
	}
	if info, err := fsys.Stat(file); err == nil && !info.Mode().IsRegular() {
		return errors.New("is not a regular file")
	}
	err := tempdir.Replace(fsys, file, func(out io.Writer) error {
		w := tar.NewWriter(out)
		writeHeader := func(name string, size int64) error {
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
			if err := writeHeader(doc.name, int64(len(data))); err != nil {
				return err
			}
			if _, err := w.Write(data); err != nil {
				return err
			}
		}
		for _, b := range blobs {
			if err := writeHeader(path.Join("blobs/sha256", b.digest.Hex), b.size); err != nil {
				return err
			}
			if err := b.copyTo(ctx, w); err != nil {
				return err
			}
		}
		return w.Close()
	})
	return diag.Cause(err)
}

// savedEntry returns the entry of an image for docker load.
func (i *Image) savedEntry() (savedEntry, error) {
	img, err := i.preferred()
	if err != nil {
		return savedEntry{}, err
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
