package safeyaml

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
)

// TooLarge returns the error for a text of size bytes, which is larger than limit.
func TooLarge(size int64, limit int) *Error {
	return &Error{Problem: fmt.Sprintf("has %d bytes, more than the limit of %d", size, limit)}
}

// ReadFile reads a file of at most limit bytes. The error for a larger file wraps an *Error. The file system is an fs.FS or an
// afero.Fs.
func ReadFile[F fs.File](fsys interface{ Open(name string) (F, error) }, name string, limit int) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > int64(limit) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: TooLarge(info.Size(), limit)}
	}
	return readAll(file, limit, int(info.Size()))
}

// ReadAll reads all of r. The error is an *Error if that is more than limit bytes.
func ReadAll(r io.Reader, limit int) ([]byte, error) { return readAll(r, limit, 0) }

// readAll reads all of r, which is expected to have size bytes.
func readAll(r io.Reader, limit, size int) ([]byte, error) {
	buffer := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := buffer.ReadFrom(io.LimitReader(r, int64(limit)+1))
	if err == nil && buffer.Len() > limit {
		return nil, &Error{Problem: fmt.Sprintf("has more than %d bytes", limit)}
	}
	return buffer.Bytes(), err
}
