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
)

// maxDocument bounds manifests, indexes and configurations, in bytes.
const maxDocument = 4 << 20

// found is an image before its layers are read.
type found struct {
	config *v1.ConfigFile
	digest string
	layers []blob
}

// blob is a layer, as it is stored: packed or not.
type blob struct {
	name string
	open func() (io.ReadCloser, error)
}

// IsReference tells whether a text can name an image in a registry, so that asking one makes sense: a
// mistyped path must not end as a question to Docker Hub.
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

// located is where a reference leads: to a registry, or to a file or folder.
type located struct {
	remote, file, tag string
	info              fs.FileInfo
}

// locate finds out where a reference leads.
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
		return located{}, withoutPath(err)
	case local != ref || !IsReference(ref):
		return located{}, fmt.Errorf("%w here; name an OCI layout, a tarball, or an image as registry/name:tag", fs.ErrNotExist)
	}
	return located{remote: ref}, nil
}

// find looks for an image where its reference says.
func (o Options) find(ctx context.Context, ref string, limits Limits) (*found, error) {
	at, err := o.locate(ref)
	switch {
	case err != nil:
		return nil, err
	case at.remote != "":
		return o.pull(ctx, at.remote)
	case at.info.IsDir():
		return openLayout(folder{fs: o.FS, dir: at.file}, at.tag)
	}
	return openArchive(ctx, o.FS, at.file, at.tag, limits)
}

// stat finds the file or folder that a reference names, with or without a tag or digest behind it.
func (o Options) stat(ref string) (file, tag string, info fs.FileInfo, err error) {
	if o.FS == nil || ref == "" {
		return "", "", nil, fs.ErrNotExist
	}
	file, tag = ref, ""
	for {
		if info, err = o.FS.Stat(o.path(file)); err == nil {
			return o.path(file), tag, info, nil
		}
		// What is behind the last colon or at sign may be a tag: PATH:TAG, PATH:NAME:TAG, PATH@DIGEST.
		cut := strings.LastIndexAny(file, ":@")
		if cut <= 0 {
			return "", "", nil, fs.ErrNotExist
		}
		file, tag = file[:cut], ref[cut+1:]
	}
}

func (o Options) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.Dir, name)
}

// IsLayout tells whether a folder is an OCI layout.
func IsLayout(fsys afero.Fs, dir string) bool {
	info, err := fsys.Stat(filepath.Join(dir, "oci-layout"))
	return err == nil && info.Mode().IsRegular()
}

// withoutPath is an error of a file system without the path, which the caller knows and names shorter.
func withoutPath(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// readDocument reads a small file of an image.
func readDocument(name string, r io.ReadCloser) ([]byte, error) {
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, withoutPath(err))
	case len(data) > maxDocument:
		return nil, fmt.Errorf("%s is larger than %s, which no image needs", name, size(maxDocument))
	}
	return data, nil
}
