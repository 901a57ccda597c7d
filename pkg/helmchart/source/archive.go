package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// readArchive returns the files in a chart archive by their path in the chart, which is the only directory of the archive.
// Helm's own function limits neither the number of entries nor what their headers add to the size, and reads links as empty
// files.
func readArchive(data []byte, b *budget) (helmchart.Files, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("not a chart archive: the file is not compressed with gzip")
	}
	// Headers and padding are at most 1 KiB for each entry, and a few KiB more for long names.
	limited := &io.LimitedReader{R: unzipped, N: b.bytes + int64(b.files)*2048 + 1<<20}
	entries := tar.NewReader(limited)
	files := helmchart.Files{}
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) && limited.N > 0 {
			break
		}
		if limited.N <= 0 {
			return nil, fmt.Errorf("the chart is larger than %d MiB", maxBytes>>20)
		}
		if err != nil {
			return nil, fmt.Errorf("not a chart archive: %w", shorten(err))
		}
		if header.Typeflag == tar.TypeXGlobalHeader { // git writes one
			continue
		}
		size := header.Size
		if header.Typeflag == tar.TypeDir {
			size = 0
		}
		if err := b.spend(size); err != nil {
			return nil, err
		}
		name, err := entryPath(header.Name)
		if err != nil {
			return nil, err
		}
		switch header.Typeflag {
		case tar.TypeDir:
			continue
		case tar.TypeReg:
		case tar.TypeSymlink, tar.TypeLink:
			return nil, fmt.Errorf("%q: links are not supported in chart archives; package the chart with 'helm package'", header.Name)
		default:
			return nil, fmt.Errorf("%q: neither a file nor a directory", header.Name)
		}
		if name == "" {
			return nil, fmt.Errorf("%q: the file is not in the directory of the chart; package the chart with 'helm package'", header.Name)
		}
		content, err := io.ReadAll(entries)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", header.Name, shorten(err))
		}
		files[name] = bytes.TrimPrefix(content, byteOrderMark)
	}
	if len(files) == 0 {
		return nil, errors.New("not a chart archive: no files")
	}
	return files, nil
}

// entryPath returns the path of an entry in the directory of the chart, or "" for this directory itself and what is beside
// it. Archives made on Windows can have backslashes.
func entryPath(name string) (string, error) {
	name = strings.ReplaceAll(name, `\`, "/")
	clean := path.Clean(name)
	for _, part := range strings.Split(name, "/") {
		if part == ".." || path.IsAbs(name) {
			return "", fmt.Errorf("%q: the path is not in the directory of the chart", name)
		}
	}
	_, inside, _ := strings.Cut(clean, "/")
	if inside == "" {
		return "", nil
	}
	return inside, checkPath(inside)
}
