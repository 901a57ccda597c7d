package scorecard

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/vcs"
)

// maxConfigMap is the maximum size of a ConfigMap's content in bytes.
const maxConfigMap = 1 << 20

// archive packs a bundle for the pods. The result depends only on the bundle.
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
		return nil, fmt.Errorf("the bundle %s has %d bytes when compressed; the maximum of its ConfigMap is %d; remove files that are neither manifests nor metadata",
			b.Name, buffer.Len(), maxConfigMap)
	}
	return buffer.Bytes(), nil
}

// outputLimits limits the output files of a test: the entries of their archive, and the size of each and of all in bytes.
type outputLimits struct {
	entries     int
	file, total int64
}

func maxOutput() outputLimits {
	return outputLimits{entries: 10_000, file: 256 << 20, total: 1 << 30}
}

// unpack writes the files of a tar stream below dir in root, without their parent directory mount. It skips links and devices, and
// reads the stream to its end.
func unpack(stream io.Reader, root *os.Root, dir, mount string, limits outputLimits) error {
	// Headers and padding count, too.
	limited := &io.LimitedReader{R: stream, N: limits.total + int64(limits.entries)<<12}
	reader := tar.NewReader(limited)
	inside := strings.Trim(path.Clean(mount), "/")
	total := int64(0)
	for count := 0; ; count++ {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, limited)
		}
		switch {
		case limited.N <= 0:
			return fmt.Errorf("the test's files are larger than %d MiB", limits.total>>20)
		case header == nil || err != nil:
			return err
		case count >= limits.entries:
			return fmt.Errorf("the test's files are more than %d", limits.entries)
		case header.Size > limits.file:
			return fmt.Errorf("the test's file %q has %d bytes; the maximum is %d", header.Name, header.Size, limits.file)
		case header.Size > limits.total-total:
			return fmt.Errorf("the test's files are larger than %d MiB", limits.total>>20)
		}
		total += header.Size
		name := strings.TrimPrefix(path.Clean("/"+header.Name), "/")
		rest, ok := strings.CutPrefix(name+"/", inside+"/")
		if rest = strings.TrimSuffix(rest, "/"); !ok || rest != "" && !filepath.IsLocal(filepath.FromSlash(rest)) {
			return fmt.Errorf("the test's files contain %q, which is not in %s", header.Name, mount)
		}
		if vcs.Element(rest) != "" {
			return fmt.Errorf("the test's files contain %q, which is in a directory of version control", header.Name)
		}
		target := filepath.Join(dir, filepath.FromSlash(rest))
		switch header.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(target, 0o755)
		case tar.TypeReg:
			err = writeFile(root, target, reader)
		}
		if err != nil {
			return err
		}
	}
}

// writeFile writes a file and creates its parent directories.
func writeFile(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
