package codegen

import (
	"io"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-tools/pkg/loader"
)

// filesBelow opens files by paths relative to a folder.
type filesBelow string

// OpenForRead implements genall.InputRule.
func (dir filesBelow) OpenForRead(name string) (io.ReadCloser, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(string(dir), name)
	}
	return os.Open(name)
}

// outputTo writes all artifacts to one writer, one after the other.
type outputTo struct{ io.Writer }

// Open implements genall.OutputRule.
func (o outputTo) Open(*loader.Package, string) (io.WriteCloser, error) { return open{o.Writer}, nil }

// open is a writer that stays open.
type open struct{ io.Writer }

// Close implements io.Closer.
func (open) Close() error { return nil }
