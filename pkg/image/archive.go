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
	"sync/atomic"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
)

// archive is a tarball of images. It may be compressed.
type archive struct {
	ctx    context.Context
	fs     afero.Fs
	file   string
	limits Limits
	// links maps entries that are links to their targets: docker saves a layer that two images share once.
	links   map[string]string
	entries map[string]section
	// compressed reports whether the file is compressed. Its entries are then read from memory, or by decompressing the
	// tarball again. kept counts the bytes in memory, total the bytes that were decompressed.
	compressed bool
	kept       int64
	total      atomic.Int64
}

// section is the position of an entry in the uncompressed tarball.
type section struct {
	offset, size int64
	// content is nil for entries that are not in memory.
	content []byte
}

// openArchive finds an image in a tarball of an OCI layout or of docker save.
func openArchive(ctx context.Context, fsys afero.Fs, file, tag string, limits Limits) (*packedImage, error) {
	a, err := scanArchive(ctx, fsys, file, limits)
	switch {
	case err != nil:
		return nil, err
	case a.has("index.json"):
		return openLayout(a, tag)
	case a.has("manifest.json"):
		return a.openSaved(tag)
	}
	return nil, errNotArchive
}

var errNotArchive = errors.New("is not an image: the tarball contains neither the manifest.json of docker save nor the index.json of an OCI layout; save one with 'docker save -o FILE IMAGE'")

// scanArchive reads a tarball and lists its entries.
func scanArchive(ctx context.Context, fsys afero.Fs, file string, limits Limits) (*archive, error) {
	info, err := fsys.Stat(file)
	if err != nil {
		return nil, diag.Cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	a := &archive{ctx: ctx, fs: fsys, file: file, limits: limits, links: map[string]string{}, entries: map[string]section{}}
	return a, a.index()
}

func (a *archive) has(name string) bool {
	_, ok := a.entries[name]
	return ok
}

// scan reads the tarball up to the entry for which visit returns true. All scans together decompress at most limits.Total
// bytes.
func (a *archive) scan(visit func(h *tar.Header, stream *limitedReader, content io.Reader) (done bool, err error)) (closeAll func() error, err error) {
	f, err := a.fs.Open(a.file)
	if err != nil {
		return nil, diag.Cause(err)
	}
	stream, end, err := decompress(&meteredReader{ctx: a.ctx, r: f}, a.limits)
	if err != nil {
		f.Close()
		return nil, err
	}
	stream.before = a.total.Load()
	closeAll = func() error {
		a.total.Add(stream.n)
		end()
		return f.Close()
	}
	r := tar.NewReader(stream)
	for count := 0; ; count++ {
		h, err := r.Next()
		done := false
		switch {
		case errors.Is(err, io.EOF):
			return closeAll, nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			err = fmt.Errorf("is not a readable tarball: %w; save the image again", diag.Cause(err))
		case count >= a.limits.Entries:
			err = fmt.Errorf("has more than %d entries, more than an image may have", a.limits.Entries)
		case isSparse(h):
			err = fmt.Errorf("contains the sparse file %q, which is unsupported", truncate(h.Name))
		default:
			done, err = visit(h, stream, r)
		}
		if err != nil {
			_ = closeAll()
			return nil, err
		}
		if done {
			return closeAll, nil
		}
	}
}

// index lists the entries. Those of a compressed tarball are kept in memory within limits.Memory.
func (a *archive) index() error {
	names := 0
	end, err := a.scan(func(h *tar.Header, stream *limitedReader, content io.Reader) (bool, error) {
		names += len(h.Name) + len(h.Linkname)
		if len(h.Name) > maxName || names > maxNames {
			return false, &limitError{"has entry names that are too long"}
		}
		name := path.Clean(h.Name)
		if strings.HasPrefix(h.Name, "/") || slices.Contains(strings.Split(h.Name, "/"), "..") {
			return false, fmt.Errorf("contains the entry %q outside of its root directory; save the image again", truncate(h.Name))
		}
		switch h.Typeflag {
		case tar.TypeReg:
			if a.has(name) {
				return false, nil
			}
			e := section{offset: stream.n, size: h.Size}
			a.compressed = stream.decompresses
			if a.compressed && h.Size <= a.limits.Memory-a.kept {
				e.content = make([]byte, h.Size)
				if _, err := io.ReadFull(content, e.content); err != nil {
					return false, readError(err)
				}
				a.kept += h.Size
			}
			a.entries[name] = e
		case tar.TypeSymlink:
			a.links[name] = path.Join(path.Dir(name), h.Linkname)
		case tar.TypeLink:
			a.links[name] = path.Clean(h.Linkname)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	return end()
}

// readCloser is a reader with its own close function.
type readCloser struct {
	io.Reader
	close func() error
}

func (r readCloser) Close() error { return r.close() }

func (a *archive) open(name string) (io.ReadCloser, error) {
	name = path.Clean(name)
	for hops := 0; !a.has(name); hops++ {
		target, ok := a.links[name]
		if !ok || hops > 5 {
			return nil, fs.ErrNotExist
		}
		name = target
	}
	e := a.entries[name]
	switch {
	case e.content != nil:
		return io.NopCloser(bytes.NewReader(e.content)), nil
	case a.compressed:
		return a.openCompressed(e)
	}
	f, err := a.fs.Open(a.file)
	if err != nil {
		return nil, diag.Cause(err)
	}
	return readCloser{io.NewSectionReader(f, e.offset, e.size), f.Close}, nil
}

// openCompressed reads an entry of the compressed tarball.
func (a *archive) openCompressed(e section) (io.ReadCloser, error) {
	var content io.Reader
	end, err := a.scan(func(_ *tar.Header, stream *limitedReader, r io.Reader) (bool, error) {
		if stream.n == e.offset {
			content = r
		}
		return content != nil, nil
	})
	if limit, ok := errors.AsType[*limitError](err); ok {
		return nil, fmt.Errorf("%w, as it is read again for each large entry; decompress the tarball first", limit)
	}
	switch {
	case err != nil:
		return nil, err
	case content == nil: // the file was replaced
		_ = end()
		return nil, fs.ErrNotExist
	}
	return readCloser{content, end}, nil
}

// document reads an entry that is small enough for memory.
func (a *archive) document(name string) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, fmt.Errorf("its %s: %w", printable(name), err)
	}
	return readDocument(printable(name), r)
}

// manifest reads the manifest.json of docker save.
func (a *archive) manifest() (tarball.Manifest, error) {
	data, err := a.document("manifest.json")
	if err != nil {
		return nil, err
	}
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return manifestOnly(data) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading manifest.json: %w", err)
	case len(manifest) > maxImages:
		return nil, fmt.Errorf("its manifest.json lists %d images, more than the %d that are supported", len(manifest), maxImages)
	}
	return manifest, nil
}

// openSaved finds an image in a tarball of docker save.
func (a *archive) openSaved(tag string) (*packedImage, error) {
	manifest, err := a.manifest()
	if err != nil {
		return nil, err
	}
	chosen, err := selectSaved(manifest, tag)
	if err != nil {
		return nil, err
	}
	config, err := a.config(chosen.Config)
	if err != nil {
		return nil, err
	}
	p := &packedImage{config: config.parsed}
	for _, layer := range chosen.Layers {
		p.layers = append(p.layers, blob{name: printable(layer), open: func() (io.ReadCloser, error) {
			r, err := a.open(layer)
			if errors.Is(err, fs.ErrNotExist) {
				return nil, errors.New("is missing in the tarball; save the image again")
			}
			return r, err
		}})
	}
	return p, nil
}

// manifestOnly returns a tarball with only manifest.json, as required by tarball.LoadManifest.
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

// selectSaved selects one of several saved images by its tag.
func selectSaved(saved tarball.Manifest, tag string) (tarball.Descriptor, error) {
	var names []string
	for _, d := range saved {
		names = append(names, d.RepoTags...)
	}
	matching := slices.Clone(saved)
	if tag != "" {
		matching = slices.DeleteFunc(matching, func(d tarball.Descriptor) bool {
			return !slices.ContainsFunc(d.RepoTags, func(name string) bool { return name == tag || strings.HasSuffix(name, ":"+tag) })
		})
	}
	switch {
	case len(saved) == 0:
		return tarball.Descriptor{}, fmt.Errorf("%w: the tarball contains no image", ErrNotBundle)
	case len(matching) == 0:
		return tarball.Descriptor{}, errNoImage(tag, names)
	case len(matching) > 1:
		return tarball.Descriptor{}, errSeveralImages(len(matching), names)
	}
	return matching[0], nil
}

func errNoImage(tag string, names []string) error {
	return fmt.Errorf("contains no image %s; it contains: %s", tag, joinNames(names))
}

func errSeveralImages(n int, names []string) error {
	return fmt.Errorf("contains %d images; append the name of one after a colon: %s", n, joinNames(names))
}
