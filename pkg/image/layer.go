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

	"github.com/operon-sdk/operon/pkg/diag"
)

// A File is a file, a directory or a symbolic link of a layer.
type File struct {
	// Name is the path relative to the root of the image. Names of directories end in a slash.
	Name string
	// Mode has the permissions. Owner and Group are the IDs of the user and of the group.
	Mode         int64
	Owner, Group int
	// Size is the length of the content of a file in bytes, Open returns the content.
	Size int64
	Open func() (io.ReadCloser, error)
	// Link is the target of a symbolic link, or empty.
	Link string
}

// Text returns a file with content in memory, owned by root.
func Text(name string, mode int64, data []byte) File {
	return File{Name: name, Mode: mode, Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// A Layer is a compressed layer of an image. The same files result in the same bytes.
type Layer struct {
	packed         []byte
	digest, diffID v1.Hash
	comment        string
}

// NewLayer packs files in the order of their names, all with the same time, and adds their parent directories. The comment
// is recorded in the history of the image.
func NewLayer(comment string, files []File, at time.Time) (*Layer, error) {
	var packed bytes.Buffer
	plainSum, packedSum := sha256.New(), sha256.New()
	z, err := gzip.NewWriterLevel(io.MultiWriter(&packed, packedSum), gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(io.MultiWriter(z, plainSum))
	files = withParents(files)
	for i, f := range files {
		if i > 0 && files[i-1].Name == f.Name {
			return nil, fmt.Errorf("duplicate entry %s", f.Name)
		}
		if err := f.write(w, at); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.Name, diag.Cause(err))
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	hash := func(sum []byte) v1.Hash { return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum)} }
	return &Layer{packed: packed.Bytes(), digest: hash(packedSum.Sum(nil)), diffID: hash(plainSum.Sum(nil)), comment: comment}, nil
}

// withParents adds parent directories and sorts the files.
func withParents(files []File) []File {
	exists := map[string]bool{}
	for _, f := range files {
		exists[f.Name] = true
	}
	all := slices.Clone(files)
	for _, f := range files {
		for dir := path.Dir(strings.TrimSuffix(f.Name, "/")); dir != "."; dir = path.Dir(dir) {
			if name := dir + "/"; !exists[name] {
				exists[name] = true
				all = append(all, File{Name: name, Mode: 0o755})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (f File) write(w *tar.Writer, at time.Time) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Mode: f.Mode, Size: f.Size, Uid: f.Owner, Gid: f.Group, ModTime: at, Format: tar.FormatPAX}
	if strings.HasSuffix(f.Name, "/") {
		h.Typeflag = tar.TypeDir
		return w.WriteHeader(h)
	}
	if f.Link != "" {
		h.Typeflag, h.Linkname, h.Mode, h.Size = tar.TypeSymlink, f.Link, 0o777, 0
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
		err = fmt.Errorf("has %d bytes, want %d", n, f.Size)
	}
	return err
}

// typedLayer is a Layer with a media type, as a v1.Layer.
type typedLayer struct {
	*Layer
	mediaType types.MediaType
}

func (l typedLayer) Digest() (v1.Hash, error)            { return l.digest, nil }
func (l typedLayer) DiffID() (v1.Hash, error)            { return l.diffID, nil }
func (l typedLayer) Size() (int64, error)                { return int64(len(l.packed)), nil }
func (l typedLayer) MediaType() (types.MediaType, error) { return l.mediaType, nil }
func (l typedLayer) Compressed() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(l.packed)), nil
}
func (l typedLayer) Uncompressed() (io.ReadCloser, error) {
	return gzip.NewReader(bytes.NewReader(l.packed))
}
