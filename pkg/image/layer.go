package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// File is a file or a folder of a layer.
type File struct {
	// Name is its path from the image's root, without a slash before it; folders end in one.
	Name string
	// Mode are its permissions; Owner is both its user and its group.
	Mode  int64
	Owner int
	// Size and Open give the content of a file.
	Size int64
	Open func() (io.ReadCloser, error)
}

// Text is a file whose content is in memory, owned by root.
func Text(name string, mode int64, data []byte) File {
	return File{Name: name, Mode: mode, Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// Layer is a part of an image, packed. The same files give the same bytes.
type Layer struct {
	packed         []byte
	digest, diffID v1.Hash
	about          string
}

// NewLayer packs files, in the order of their names, all of the same time. The folders around them are
// added. What it is about goes into the image's history.
func NewLayer(about string, files []File, at time.Time) (*Layer, error) {
	var packed bytes.Buffer
	plainSum, packedSum := sha256.New(), sha256.New()
	z, err := gzip.NewWriterLevel(io.MultiWriter(&packed, packedSum), gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(io.MultiWriter(z, plainSum))
	files = withFolders(files)
	for i, f := range files {
		if i > 0 && files[i-1].Name == f.Name {
			return nil, fmt.Errorf("%s is there twice", f.Name)
		}
		if err := f.write(w, at); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.Name, withoutPath(err))
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	hash := func(sum []byte) v1.Hash { return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum)} }
	return &Layer{packed: packed.Bytes(), digest: hash(packedSum.Sum(nil)), diffID: hash(plainSum.Sum(nil)), about: about}, nil
}

// withFolders adds the folders that names only imply, and sorts.
func withFolders(files []File) []File {
	there := map[string]bool{}
	for _, f := range files {
		there[f.Name] = true
	}
	all := slices.Clone(files)
	for _, f := range files {
		for dir := path.Dir(strings.TrimSuffix(f.Name, "/")); dir != "."; dir = path.Dir(dir) {
			if name := dir + "/"; !there[name] {
				there[name] = true
				all = append(all, File{Name: name, Mode: 0o755})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (f File) write(w *tar.Writer, at time.Time) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Mode: f.Mode, Size: f.Size, Uid: f.Owner, Gid: f.Owner, ModTime: at, Format: tar.FormatPAX}
	if strings.HasSuffix(f.Name, "/") {
		h.Typeflag = tar.TypeDir
		return w.WriteHeader(h)
	}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := io.Copy(w, r)
	if err == nil && n != f.Size {
		err = fmt.Errorf("has %d bytes and had %d", n, f.Size)
	}
	return err
}

// stored is a layer as an image of a media type has it.
type stored struct {
	*Layer
	mediaType types.MediaType
}

func (s stored) Digest() (v1.Hash, error)            { return s.digest, nil }
func (s stored) DiffID() (v1.Hash, error)            { return s.diffID, nil }
func (s stored) Size() (int64, error)                { return int64(len(s.packed)), nil }
func (s stored) MediaType() (types.MediaType, error) { return s.mediaType, nil }
func (s stored) Compressed() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(s.packed)), nil
}
func (s stored) Uncompressed() (io.ReadCloser, error) {
	return gzip.NewReader(bytes.NewReader(s.packed))
}
