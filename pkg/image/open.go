package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
)

// The labels of bundle images, as set by bundle.Dockerfile.
const (
	labelPrefix    = "operators.operatorframework.io."
	manifestsLabel = labelPrefix + "bundle.manifests.v1"
	metadataLabel  = labelPrefix + "bundle.metadata.v1"
	testsLabel     = labelPrefix + "test.config.v1"
	testsDir       = "tests"
)

// ErrNotBundle reports an image that was read and is not a bundle image.
var ErrNotBundle = errors.New("is not a bundle image")

// Options configures the access to images. The zero value finds images in registries only.
type Options struct {
	Registries
	// FS contains OCI layouts and tarballs; nil is none. Relative paths start at Dir.
	FS  afero.Fs
	Dir string
	// Limits bounds the content of images.
	Limits Limits
}

// A Bundle is the content of a bundle.
type Bundle struct {
	// FS contains the directories of manifests, metadata and tests. Links out of it cannot be followed.
	FS fs.FS
	// Name is the name of the bundle in messages.
	Name string
	// Ref is the reference of an image in a registry. It is empty for other locations.
	Ref string
	// Labels are all labels of an image.
	Labels map[string]string
	// Digest is the digest of the image's manifest. It is empty for tarballs of docker save, which have no manifest.
	Digest string
	// root is the directory that FS reads, or nil.
	root *os.Root
}

// Close releases FS.
func (b *Bundle) Close() error {
	if b.root == nil {
		return nil
	}
	return b.root.Close()
}

// OpenDirectory opens a bundle in a directory.
func OpenDirectory(fsys afero.Fs, dir, name string) (*Bundle, error) {
	if _, ok := fsys.(*afero.OsFs); !ok {
		return &Bundle{FS: afero.NewIOFS(afero.NewBasePathFs(fsys, dir)), Name: name}, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, diag.Cause(err))
	}
	return &Bundle{FS: root.FS(), Name: name, root: root}, nil
}

// Open reads a bundle from an image:
//
//	quay.io/team/op-bundle:v1     a registry; prefix docker:// if a file has the same name
//	DIR[:TAG], oci:DIR[:TAG]      an OCI layout
//	FILE[:TAG], oci-archive:FILE, docker-archive:FILE
//	                              a tarball, of docker save or podman save, or of an OCI layout
//
// Nothing is written to disk. The error is a *LayerError for entries other than files, directories and links inside of the
// image, and if a layer exceeds a limit.
func Open(ctx context.Context, ref string, o Options) (*Bundle, error) {
	b, err := open(ctx, ref, o)
	return b, imageError(ctx, ref, err)
}

func open(ctx context.Context, ref string, o Options) (*Bundle, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limits := o.Limits.orDefault()
	at, err := o.locate(ref)
	if err != nil {
		return nil, err
	}
	image, err := o.open(ctx, at, limits)
	if err != nil {
		return nil, err
	}
	labels := image.config.Config.Labels
	dirs, err := bundleDirsOf(labels)
	if err != nil {
		return nil, err
	}
	files, err := unpackDirs(ctx, image, dirs.all(), limits)
	if err != nil {
		return nil, err
	}
	for label, dir := range map[string]string{manifestsLabel: dirs.manifests, metadataLabel: dirs.metadata} {
		if info, err := fs.Stat(files, dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%w: its label %s names the directory %s, which the image does not contain; check the COPY lines of bundle.Dockerfile", ErrNotBundle, label, printable(dir))
		}
	}
	return &Bundle{FS: files, Name: ref, Ref: at.remote, Labels: maps.Clone(labels), Digest: image.digest}, nil
}

// unpackDirs unpacks the files in some directories of an image.
func unpackDirs(ctx context.Context, image *packedImage, dirs []string, limits Limits) (fs.FS, error) {
	if n := len(image.layers); n > limits.Layers {
		return nil, tooManyLayers(n, limits)
	}
	if n, m := len(image.layers), len(image.config.RootFS.DiffIDs); n != m {
		return nil, fmt.Errorf("its manifest lists %s and its configuration %d; build and push the image again", diag.Count(n, "layer"), m)
	}
	u := &unpacker{ctx: ctx, limits: limits, dirs: dirs, root: newDir(false)}
	for i, layer := range image.layers {
		name := fmt.Sprintf("layer %d of %d (%s)", i+1, len(image.layers), shortDigest(layer.name))
		if err := u.unpack(name, layer, image.config.RootFS.DiffIDs[i].String()); err != nil {
			return nil, err
		}
	}
	return u.files()
}

func tooManyLayers(n int, limits Limits) error {
	return fmt.Errorf("has %s, more than the %d that are supported; build it from fewer instructions", diag.Count(n, "layer"), limits.Layers)
}

// bundleDirs are the directories of a bundle in its image.
type bundleDirs struct{ manifests, metadata, tests string }

func (d bundleDirs) all() []string {
	all := []string{d.manifests, d.metadata, testsDir}
	if d.tests != "" {
		all = append(all, d.tests)
	}
	return all
}

// bundleDirsOf returns the directories that labels name.
func bundleDirsOf(labels map[string]string) (bundleDirs, error) {
	var d bundleDirs
	var missing []string
	var invalid []error
	for label, to := range map[string]*string{manifestsLabel: &d.manifests, metadataLabel: &d.metadata, testsLabel: &d.tests} {
		value, ok := labels[label]
		if !ok {
			if label != testsLabel {
				missing = append(missing, label)
			}
			continue
		}
		dir := path.Clean(strings.TrimPrefix(value, "/"))
		if !fs.ValidPath(dir) || dir == "." || strings.ContainsAny(dir, "\\:") {
			invalid = append(invalid, fmt.Errorf("its label %s must name a directory of the image, such as manifests/, not %q", label, truncate(value)))
		}
		*to = dir
	}
	slices.Sort(missing)
	slices.SortFunc(invalid, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	switch {
	case len(invalid) > 0:
		return d, fmt.Errorf("%w: %w; correct bundle.Dockerfile and build it again", ErrNotBundle, errors.Join(invalid...))
	case len(missing) == 2:
		return d, fmt.Errorf("%w: it has no labels %s*; build it from bundle.Dockerfile; it may be the operator's own image", ErrNotBundle, labelPrefix+"bundle.")
	case len(missing) > 0:
		return d, fmt.Errorf("%w: the label %s is missing; build it from bundle.Dockerfile", ErrNotBundle, missing[0])
	}
	return d, nil
}

// shortDigest truncates a digest to 12 digits.
func shortDigest(digest string) string {
	if algorithm, hex, ok := strings.Cut(digest, ":"); ok && len(hex) > 12 {
		return algorithm + ":" + hex[:12]
	}
	return digest
}
