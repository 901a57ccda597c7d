package diag

import (
	"errors"
	"io/fs"
	"os"
)

// Cause returns the cause of a file system error without its paths, which may be absolute. The caller adds a relative one.
func Cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}
