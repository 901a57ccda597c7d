package local

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// reuse puts the manager of an earlier session where go build is to write the next one: where the two are the same, go
// links nothing. Without it, linking takes as long as the start of a control plane.
func (s *Session) reuse(binary string) {
	if s.o.Keep != "" {
		_ = linkOrCopy(s.o.Keep, binary) // else go links
	}
}

// keep keeps a manager for the next session.
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
	// Another session may be reading the file.
	aside := filepath.Join(filepath.Dir(s.o.Keep), filepath.Base(s.o.Workspace)+"-"+filepath.Base(binary))
	if err := linkOrCopy(binary, aside); err == nil && os.Rename(aside, s.o.Keep) == nil {
		return
	}
	_ = os.Remove(aside)
}

// linkOrCopy makes a new file with the content of another, by a link where the file system allows. The go command never
// writes into a file that is there, it replaces it.
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
