package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"
)

// The labels that say where a bundle image holds what, as bundle.Dockerfile sets them.
const (
	labelPrefix    = "operators.operatorframework.io."
	manifestsLabel = labelPrefix + "bundle.manifests.v1"
	metadataLabel  = labelPrefix + "bundle.metadata.v1"
	testsLabel     = labelPrefix + "test.config.v1"
	testsDir       = "tests"
)

// ErrNoBundle tells that an image was found and read, and is no bundle image.
var ErrNoBundle = errors.New("is no bundle image")

// Options is how bundle images are opened. The zero value asks registries only.
type Options struct {
	Registries
	// FS holds OCI layouts and tarballs; nil is none. Paths that are not absolute start at Dir.
	FS  afero.Fs
	Dir string
	// Limits bound what an image may hold; each that is zero is the default.
	Limits Limits
}

// Bundle is what a bundle image holds.
type Bundle struct {
	// FS holds the folders of manifests, metadata and tests, read-only, in memory.
	FS fs.FS
	// Labels are all labels of the image.
	Labels map[string]string
	// Digest is that of the image's manifest; empty for tarballs of docker save, which have none.
	Digest string
}

// Open reads a bundle from an image:
//
//	quay.io/team/op-bundle:v1     a registry; docker://… says so where a file has the same name
//	DIR[:TAG], oci:DIR[:TAG]      an OCI layout
//	FILE[:TAG], oci-archive:FILE, docker-archive:FILE
//	                              a tarball, of docker save or podman save, or of an OCI layout
//
// Nothing is written to disk. What is no plain file or folder inside of the image's root is refused with
// a *LayerError, and so is what goes beyond the limits.
func Open(ctx context.Context, ref string, o Options) (*Bundle, error) {
	shown := withoutPassword(ref)
	b, err := open(ctx, ref, o)
	switch {
	case err == nil:
		return b, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("image %s: %w", shown, context.Cause(ctx))
	}
	return nil, fmt.Errorf("image %s: %w", shown, err)
}

func open(ctx context.Context, ref string, o Options) (*Bundle, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limits := o.Limits.orDefault()
	found, err := o.find(ctx, ref, limits)
	if err != nil {
		return nil, err
	}
	labels := found.config.Config.Labels
	folders, err := folders(labels)
	if err != nil {
		return nil, err
	}
	files, err := unpackFolders(ctx, found, folders.all(), limits)
	if err != nil {
		return nil, err
	}
	for label, dir := range map[string]string{manifestsLabel: folders.manifests, metadataLabel: folders.metadata} {
		if info, err := fs.Stat(files, dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%w: its label %s names the folder %s, which it does not hold; see the COPY lines of bundle.Dockerfile", ErrNoBundle, label, printable(dir))
		}
	}
	return &Bundle{FS: files, Labels: maps.Clone(labels), Digest: found.digest}, nil
}

// unpackFolders unpacks the files of an image that are in some of its directories.
func unpackFolders(ctx context.Context, found *found, folders []string, limits Limits) (fs.FS, error) {
	if n := len(found.layers); n > limits.Layers {
		return nil, tooManyLayers(n, limits)
	}
	if n, m := len(found.layers), len(found.config.RootFS.DiffIDs); n != m {
		return nil, fmt.Errorf("its manifest names %d layers and its configuration %d; build and push it again", n, m)
	}
	u := &unpacker{ctx: ctx, limits: limits, folders: folders, root: newFolder(false)}
	for i, layer := range found.layers {
		name := fmt.Sprintf("layer %d of %d (%s)", i+1, len(found.layers), short(layer.name))
		if err := u.unpack(name, layer, found.config.RootFS.DiffIDs[i].String()); err != nil {
			return nil, err
		}
	}
	return u.files()
}

func tooManyLayers(n int, limits Limits) error {
	return fmt.Errorf("has %d layers, more than the %d that are supported; build it from fewer instructions", n, limits.Layers)
}

// bundleFolders are the folders of an image that a bundle consists of.
type bundleFolders struct{ manifests, metadata, tests string }

func (f bundleFolders) all() []string {
	all := []string{f.manifests, f.metadata, testsDir}
	if f.tests != "" {
		all = append(all, f.tests)
	}
	return all
}

// folders reads from the labels where the bundle is.
func folders(labels map[string]string) (bundleFolders, error) {
	var f bundleFolders
	var missing []string
	var wrong []error
	for label, to := range map[string]*string{manifestsLabel: &f.manifests, metadataLabel: &f.metadata, testsLabel: &f.tests} {
		value, ok := labels[label]
		if !ok {
			if label != testsLabel {
				missing = append(missing, label)
			}
			continue
		}
		dir := path.Clean(strings.TrimPrefix(value, "/"))
		if !fs.ValidPath(dir) || dir == "." || strings.ContainsAny(dir, "\\:") {
			wrong = append(wrong, fmt.Errorf("its label %s must name a folder of the image, such as manifests/, and is %q", label, cut(value)))
		}
		*to = dir
	}
	slices.Sort(missing)
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	switch {
	case len(wrong) > 0:
		return f, fmt.Errorf("%w: %w; correct bundle.Dockerfile and build it again", ErrNoBundle, errors.Join(wrong...))
	case len(missing) == 2:
		return f, fmt.Errorf("%w: it has no labels %s*; build it from bundle.Dockerfile, and see whether this is the operator's own image", ErrNoBundle, labelPrefix+"bundle.")
	case len(missing) > 0:
		return f, fmt.Errorf("%w: the label %s is missing; build it from bundle.Dockerfile", ErrNoBundle, missing[0])
	}
	return f, nil
}

// short is the beginning of a digest, enough to find it.
func short(digest string) string {
	if algorithm, hex, ok := strings.Cut(digest, ":"); ok && len(hex) > 12 {
		return algorithm + ":" + hex[:12]
	}
	return digest
}
