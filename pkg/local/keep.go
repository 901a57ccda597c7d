package local

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// reuse places the manager of an earlier session at the output path of go build, which links only if the result would
// differ. Linking takes as long as starting a control plane.
func (s *Session) reuse(binary string) {
	if s.o.Keep != "" {
		_ = linkOrCopy(s.o.Keep, binary) // on failure go build links
	}
}

// keep stores the manager for the next session.
func (s *Session) keep(binary string) {
	if s.o.Keep == "" {
		return
	}
	built, err := os.Stat(binary)
	if err != nil {
		return
	}
	if kept, err := os.Stat(s.o.Keep); err == nil && os.SameFile(kept, built) {
		return
	}
	// Another session may read the file at the same time.
	aside := filepath.Join(filepath.Dir(s.o.Keep), filepath.Base(s.o.Workspace)+"-"+filepath.Base(binary))
	if err := linkOrCopy(binary, aside); err == nil && os.Rename(aside, s.o.Keep) == nil {
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
