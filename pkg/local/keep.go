package local

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// reuse places the manager of an earlier run at the output path of go build, which links only if the result would
// differ. Linking takes as long as starting a control plane.
func (r *runner) reuse(binary string) {
	if r.o.Keep != "" {
		_ = linkOrCopy(r.o.Keep, binary) // on failure go build links
	}
}

// keep stores the manager for the next run.
func (r *runner) keep(binary string) {
	if r.o.Keep == "" {
		return
	}
	built, err := os.Stat(binary)
	if err != nil {
		return
	}
	if kept, err := os.Stat(r.o.Keep); err == nil && os.SameFile(kept, built) {
		return
	}
	// Another run may read the file at the same time.
	aside := filepath.Join(filepath.Dir(r.o.Keep), filepath.Base(r.workspace.Path)+"-"+filepath.Base(binary))
	if err := linkOrCopy(binary, aside); err == nil && os.Rename(aside, r.o.Keep) == nil {
		return
	}
	_ = os.Remove(aside)
}

// linkOrCopy creates a hard link to a file or, where the file system has none, a copy. A link is safe: go build replaces
// an existing file and does not write into it.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	copied, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, source)
	if err = errors.Join(err, copied.Close()); err != nil {
		_ = os.Remove(to)
	}
	return err
}
