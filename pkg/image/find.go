package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
)

// maxDocument bounds manifests, indexes and configurations, in bytes.
const maxDocument = 4 << 20

// A packedImage is the configuration of an image and its layers as they are stored.
type packedImage struct {
	config *v1.ConfigFile
	digest string
	layers []blob
}

// blob is a layer, which may be compressed.
type blob struct {
	name string
	open func() (io.ReadCloser, error)
}

// IsReference reports whether a text can be the name of an image in a registry. A mistyped path is not one, so that no request
// is sent to Docker Hub for it.
func IsReference(ref string) bool {
	if strings.HasPrefix(ref, "docker://") {
		return true
	}
	if ref == "" || filepath.IsAbs(ref) || strings.HasPrefix(ref, ".") || strings.HasPrefix(ref, "/") || strings.ContainsRune(ref, '\\') {
		return false
	}
	for _, end := range []string{".tar", ".tar.gz", ".tgz"} {
		if strings.HasSuffix(ref, end) {
			return false
		}
	}
	host, _, slash := strings.Cut(ref, "/")
	return strings.ContainsAny(ref, ":@") || slash && (strings.Contains(host, ".") || host == "localhost")
}

// located is the location of a reference: a registry, or a file or directory with a tag.
type located struct {
	remote, file, tag string
	info              fs.FileInfo
}

// locate determines the location of a reference.
func (o Options) locate(ref string) (located, error) {
	if rest, ok := strings.CutPrefix(ref, "docker://"); ok {
		return located{remote: rest}, nil
	}
	local := ref
	for _, transport := range []string{"oci:", "oci-archive:", "docker-archive:"} {
		if rest, ok := strings.CutPrefix(ref, transport); ok {
			local = rest
		}
	}
	file, tag, info, err := o.stat(local)
	switch {
	case err == nil:
		return located{file: file, tag: tag, info: info}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return located{}, diag.Cause(err)
	case local != ref || !IsReference(ref):
		return located{}, fmt.Errorf("%w here; pass an OCI layout, a tarball, or an image as registry/name:tag", fs.ErrNotExist)
	}
	return located{remote: ref}, nil
}

// Remote returns the name of a reference to an image in a registry. It returns an empty string for files and directories, and
// for text that is not a reference.
func (o Options) Remote(ref string) string {
	at, _ := o.locate(ref)
	return at.remote
}

// open opens the image at a location without reading its layers.
func (o Options) open(ctx context.Context, at located, limits Limits) (*packedImage, error) {
	switch {
	case at.remote != "":
		return o.pull(ctx, at.remote)
	case at.info.IsDir():
		return openLayout(directory{fs: o.FS, path: at.file}, at.tag)
	}
	return openArchive(ctx, o.FS, at.file, at.tag, limits)
}

// stat finds the file or directory of a reference, which may be followed by a tag or digest.
func (o Options) stat(ref string) (file, tag string, info fs.FileInfo, err error) {
	if o.FS == nil || ref == "" {
		return "", "", nil, fs.ErrNotExist
	}
	file, tag = ref, ""
	for {
		if info, err = o.FS.Stat(o.path(file)); err == nil {
			return o.path(file), tag, info, nil
		}
		// The text after the last colon or at sign may be a tag: PATH:TAG, PATH:NAME:TAG, PATH@DIGEST.
		i := strings.LastIndexAny(file, ":@")
		if i <= 0 {
			return "", "", nil, fs.ErrNotExist
		}
		file, tag = file[:i], ref[i+1:]
	}
}

func (o Options) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.Dir, name)
}

// IsLayout reports whether a directory is an OCI layout.
func IsLayout(fsys afero.Fs, dir string) bool {
	info, err := fsys.Stat(filepath.Join(dir, "oci-layout"))
	return err == nil && info.Mode().IsRegular()
}

// readDocument reads a small file of an image.
func readDocument(name string, r io.ReadCloser) ([]byte, error) {
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
	case len(data) > maxDocument:
		return nil, fmt.Errorf("%s is larger than the maximum of %s", name, formatSize(maxDocument))
	}
	return data, nil
}
