package codegen

import (
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"

	"sigs.k8s.io/controller-tools/pkg/loader"
)

// dirInput reads files by paths relative to a directory.
type dirInput string

// OpenForRead implements genall.InputRule.
func (dir dirInput) OpenForRead(name string) (io.ReadCloser, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(string(dir), name)
	}
	return os.Open(name)
}

// headerInput is the header of generated files, by any name.
type headerInput []byte

// OpenForRead implements genall.InputRule.
func (f headerInput) OpenForRead(string) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(f)), nil
}

// writerOutput writes all files to one writer, one after the other.
type writerOutput struct{ io.Writer }

// Open implements genall.OutputRule.
func (o writerOutput) Open(*loader.Package, string) (io.WriteCloser, error) { return o, nil }

// Close implements io.Closer.
func (writerOutput) Close() error { return nil }

// artifacts collects the files that generators write: manifests in one directory, code next to its package.
type artifacts struct {
	files map[string][]byte
	// config is the directory of manifests, and code returns the directory of a package; both are slash-separated.
	config string
	code   func(*loader.Package) string
}

// Open implements genall.OutputRule.
func (a *artifacts) Open(pkg *loader.Package, name string) (io.WriteCloser, error) {
	if pkg == nil {
		return &artifact{name: path.Join(a.config, name), files: a.files}, nil
	}
	return &artifact{name: path.Join(a.code(pkg), name), files: a.files}, nil
}

// An artifact is a file that is stored when it is closed.
type artifact struct {
	bytes.Buffer
	name  string
	files map[string][]byte
}

// Close implements io.Closer.
func (a *artifact) Close() error {
	a.files[a.name] = a.Bytes()
	return nil
}
