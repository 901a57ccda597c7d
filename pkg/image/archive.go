package image

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/spf13/afero"
)

// archive is a tarball that holds images. It may be packed.
type archive struct {
	ctx    context.Context
	fs     afero.Fs
	file   string
	limits Limits
	// links are entries that stand for others: docker saves a layer that two images share once.
	links map[string]string
	names map[string]bool
}

// openArchive finds an image in a tarball: of an OCI layout, or of docker save.
func openArchive(ctx context.Context, fsys afero.Fs, file, tag string, limits Limits) (*found, error) {
	a, err := scanArchive(ctx, fsys, file, limits)
	switch {
	case err != nil:
		return nil, err
	case a.names["index.json"]:
		return openLayout(a, tag)
	case a.names["manifest.json"]:
		return a.docker(tag)
	}
	return nil, errNoArchive()
}

func errNoArchive() error {
	return errors.New("is no image: the tarball has neither the manifest.json of docker save nor the index.json of an OCI layout; save one with 'docker save -o FILE IMAGE'")
}

// scanArchive lists a tarball.
func scanArchive(ctx context.Context, fsys afero.Fs, file string, limits Limits) (*archive, error) {
	info, err := fsys.Stat(file)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no plain file")
	}
	a := &archive{ctx: ctx, fs: fsys, file: file, limits: limits, links: map[string]string{}, names: map[string]bool{}}
	return a, a.list()
}

// scan reads the tarball up to the entry that visit takes.
func (a *archive) scan(visit func(*tar.Header, io.Reader) bool) (close func() error, err error) {
	f, err := a.fs.Open(a.file)
	if err != nil {
		return nil, withoutPath(err)
	}
	stream, end, err := unpacked(&metered{ctx: a.ctx, r: f}, a.limits, "the tarball")
	if err != nil {
		f.Close()
		return nil, err
	}
	closeAll := func() error { end(); return f.Close() }
	r := tar.NewReader(stream)
	for count := 0; ; count++ {
		h, err := r.Next()
		switch {
		case err == io.EOF:
			return closeAll, nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			closeAll()
			return nil, fmt.Errorf("is no tarball that can be read: %w; save the image again", withoutPath(err))
		case count >= a.limits.Entries:
			closeAll()
			return nil, fmt.Errorf("has more than %d entries, which no image needs", a.limits.Entries)
		case sparse(h):
			closeAll()
			return nil, fmt.Errorf("has the sparse file %q, which no image needs", cut(h.Name))
		}
		if visit(h, r) {
			return closeAll, nil
		}
	}
}

func (a *archive) list() error {
	outside := ""
	end, err := a.scan(func(h *tar.Header, _ io.Reader) bool {
		name := path.Clean(h.Name)
		if strings.HasPrefix(h.Name, "/") || slices.Contains(strings.Split(h.Name, "/"), "..") {
			outside = h.Name
			return true
		}
		switch h.Typeflag {
		case tar.TypeReg:
			a.names[name] = true
		case tar.TypeSymlink:
			a.links[name] = path.Join(path.Dir(name), h.Linkname)
		case tar.TypeLink:
			a.links[name] = path.Clean(h.Linkname)
		}
		return false
	})
	if err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	if outside != "" {
		return fmt.Errorf("has the entry %q, which leads out of the tarball's folder; save the image again", cut(outside))
	}
	return nil
}

type readCloser struct {
	io.Reader
	close func() error
}

func (r readCloser) Close() error { return r.close() }

func (a *archive) open(name string) (io.ReadCloser, error) {
	name = path.Clean(name)
	for hops := 0; !a.names[name]; hops++ {
		target, ok := a.links[name]
		if !ok || hops > 5 {
			return nil, fs.ErrNotExist
		}
		name = target
	}
	var content io.Reader
	end, err := a.scan(func(h *tar.Header, r io.Reader) bool {
		if h.Typeflag == tar.TypeReg && path.Clean(h.Name) == name {
			content = r
		}
		return content != nil
	})
	switch {
	case err != nil:
		return nil, err
	case content == nil:
		end()
		return nil, fs.ErrNotExist
	}
	return readCloser{content, end}, nil
}

func (a *archive) document(name string) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, fmt.Errorf("its %s: %w", cut(name), err)
	}
	return readDocument(cut(name), r)
}

// manifest reads what docker save lists.
func (a *archive) manifest() (tarball.Manifest, error) {
	data, err := a.document("manifest.json")
	if err != nil {
		return nil, err
	}
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return manifestOnly(data) })
	if err != nil {
		return nil, fmt.Errorf("reading manifest.json: %w", err)
	}
	return manifest, nil
}

// docker finds an image in a tarball of docker save.
func (a *archive) docker(tag string) (*found, error) {
	manifest, err := a.manifest()
	if err != nil {
		return nil, err
	}
	chosen, err := chooseSaved(manifest, tag)
	if err != nil {
		return nil, err
	}
	data, err := a.document(chosen.Config)
	if err != nil {
		return nil, err
	}
	config, err := v1.ParseConfigFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", cut(chosen.Config), err)
	}
	f := &found{config: config}
	for _, layer := range chosen.Layers {
		f.layers = append(f.layers, blob{name: cut(layer), open: func() (io.ReadCloser, error) {
			r, err := a.open(layer)
			if errors.Is(err, fs.ErrNotExist) {
				return nil, errors.New("is missing in the tarball; save the image again")
			}
			return r, err
		}})
	}
	return f, nil
}

// manifestOnly is a tarball that holds manifest.json alone, for the library to read.
func manifestOnly(data []byte) (io.ReadCloser, error) {
	if !json.Valid(data) {
		return nil, errors.New("is not JSON")
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(&tar.Header{Name: "manifest.json", Mode: 0o644, Size: int64(len(data))}); err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	return io.NopCloser(&out), w.Close()
}

// chooseSaved takes an image of those that were saved together.
func chooseSaved(saved tarball.Manifest, tag string) (tarball.Descriptor, error) {
	var names []string
	for _, d := range saved {
		names = append(names, d.RepoTags...)
	}
	listed := strings.Join(names, ", ")
	fits := slices.Clone(saved)
	if tag != "" {
		fits = slices.DeleteFunc(fits, func(d tarball.Descriptor) bool {
			return !slices.ContainsFunc(d.RepoTags, func(name string) bool { return name == tag || strings.HasSuffix(name, ":"+tag) })
		})
	}
	switch {
	case len(saved) == 0:
		return tarball.Descriptor{}, fmt.Errorf("%w: the tarball lists no image", ErrNoBundle)
	case len(fits) == 0:
		return tarball.Descriptor{}, fmt.Errorf("holds no image %s; it has: %s", tag, listed)
	case len(fits) > 1:
		return tarball.Descriptor{}, fmt.Errorf("holds %d images; name one of them behind a colon: %s", len(fits), listed)
	}
	return fits[0], nil
}
