package scorecard

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/afero"
)

// maxConfigMap is what an API server takes of a ConfigMap's content.
const maxConfigMap = 1 << 20

// archive packs a bundle for the pods. The same bundle gives the same bytes.
func archive(b Bundle) ([]byte, error) {
	var buffer bytes.Buffer
	packed := gzip.NewWriter(&buffer)
	w := tar.NewWriter(packed)
	err := fs.WalkDir(b.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		header := &tar.Header{Name: name, Mode: 0o644, Typeflag: tar.TypeReg, ModTime: time.Unix(0, 0)}
		if d.IsDir() {
			header.Name, header.Mode, header.Typeflag = name+"/", 0o755, tar.TypeDir
			return w.WriteHeader(header)
		}
		data, err := readFile(b.FS, name)
		if err != nil {
			return err
		}
		header.Size = int64(len(data))
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err := errors.Join(err, w.Close(), packed.Close()); err != nil {
		return nil, fmt.Errorf("packing the bundle %s: %w", b.Name, err)
	}
	if buffer.Len() > maxConfigMap {
		return nil, fmt.Errorf("the bundle %s has %d bytes when compressed, and a ConfigMap for its tests takes no more than %d; take out what is neither a manifest nor metadata",
			b.Name, buffer.Len(), maxConfigMap)
	}
	return buffer.Bytes(), nil
}

// maxOutput bounds what is taken of a test's files.
const maxOutput = 1 << 30

// unpack writes the files of a tar stream below dir, without the folder mount that they were in. Links
// and devices are left out, and nothing is written outside of dir.
func unpack(stream io.Reader, to afero.Fs, dir, mount string) error {
	reader := tar.NewReader(io.LimitReader(stream, maxOutput))
	inside := strings.Trim(path.Clean(mount), "/")
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path.Clean("/"+header.Name), "/")
		rest, ok := strings.CutPrefix(name+"/", inside+"/")
		if rest = strings.TrimSuffix(rest, "/"); !ok || rest != "" && !filepath.IsLocal(filepath.FromSlash(rest)) {
			return fmt.Errorf("the test's files hold %q, which is not in %s", header.Name, mount)
		}
		target := filepath.Join(dir, filepath.FromSlash(rest))
		switch header.Typeflag {
		case tar.TypeDir:
			err = to.MkdirAll(target, 0o755)
		case tar.TypeReg:
			if err = to.MkdirAll(filepath.Dir(target), 0o755); err == nil {
				err = afero.WriteReader(to, target, reader)
			}
		}
		if err != nil {
			return err
		}
	}
}
